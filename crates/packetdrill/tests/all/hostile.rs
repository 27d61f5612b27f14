//! Tests that no text makes the runner panic or hang.

use fadeout_packetdrill::{Outcome, run};
use proptest::prelude::*;

const SCRIPT: &str = "--tolerance_usecs=5000
`../common/defaults.sh`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < SEW 0:0(0) win 65535 <mss 1012,sackOK,TS val 1 ecr 0,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 512 <nop,nop,TS val 2 ecr 1>
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 20000) = 20000
+0 > P. 1:10001(10000) ack 1
+.1 < . 1:1(0) ack 1 win 512 <nop,nop,TS val 3 ecr 1,nop,nop,sack 2001:3001 4001:5001>
+.1 < FP. 1:1001(1000) ack 2001 win 0 <nop,nop,TS val 4 ecr 1>
* > . 1:1001(1000) ack 1
+0...0.1 read(4, ..., 2000) = 1000
+0~+.5 > . 1:1001(1000) ack 1
+0 %{ assert tcpi_snd_cwnd == 10, 'cwnd %d' % tcpi_snd_cwnd; print(tcpi_rtt) }%
+0 close(4) = 0
";

const MULTIPATH: &str = "`ip mptcp endpoint add 198.51.100.2 signal`
+0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < addr[a] > addr[b] S 0:0(0) win 65535 <mss 1460,nop,wscale 7,mpcapable v1 flags[flag_h] nokey>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,wscale 8,mpcapable v1 flags[flag_h] key[skey]>
+.02 < . 1:1(0) ack 1 win 512 <mpcapable v1 flags[flag_h] key[ckey=7,skey]>
+0 accept(3, ..., ...) = 4
+0 > . 1:1(0) ack 1 <add_address address_id=1 addr[c] hmac=auto,dss dack4=1 nocs>
+.02 < . 1:1(0) ack 1 win 512 <add_address address_id=1 addr[c] addr_echo,dss dack4=1 nocs>
+0 < addr[d] > addr[c] S 0:0(0) win 65535 <mss 1460,nop,wscale 7,mp_join_syn backup=1 token=sha256_32(skey)>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,wscale 8,mp_join_syn_ack backup=1 sender_hmac=auto>
+.02 < . 1:1(0) ack 1 win 512 <mp_join_ack sender_hmac=auto>
+0 > . 1:1(0) ack 1 <dss dack4=1 nocs>
+0 < P. 1:51(50) ack 1 win 512 <nop,nop,dss dack8=1 dsn8=1 ssn=1 dll=50 nocs>
+0 > . 1:1(0) ack 51 <dss dack8=51 nocs>
+0 write(4, ..., 5000) = 5000
+0 < addr[a] > addr[b] . 1:1(0) ack 1 win 512 <mp_prio backup=1,nop>
+0 < . 51:51(0) ack 1 win 512 <mp_fastclose ckey=2>
+0 read(4, ..., 50) = 50
+0 close(4) = 0
";

#[test]
fn odd_segments_are_survived() {
    let opening = SCRIPT.split_once("+0 write").expect("the script writes").0;
    for segments in [
        "+0 < . 4294967295:0(1) ack 4294967295 win 4294967295\n",
        "+0 < R 0:0(0)\n+0 < S 5:5(0) win 1\n+0 < S. 5:5(0) ack 9 win 1\n",
        "+0 < F. 1:1(0) ack 1 win 0\n+0 < F. 1:1(0) ack 1 win 0\n+0 close(4) = 0\n+0 write(4, ..., 1) = -1\n",
        "+0 write(4, ..., 16000000) = 16000000\n+0 < . 1:1(0) ack 4000000000 win 65535\n+100 < . 1:1(0) ack 1 win 0\n",
        "+0 write(4, ..., 20000) = 20000\n+0 < . 1:1(0) ack 1 win 9 <sack 1:1 0:4294967295 20001:1 5:6,nop,nop>\n+9 < . 1:1(0) ack 7 win 9\n+900 < . 1:1(0) ack 8 win 9\n",
        "+0 < . 2147483648:2147549183(65535) ack 1 win 1\n+0 read(4, ..., 4294967295) = 0\n",
        "+0 < F. 9000:9001(1) ack 1 win 1\n+0 < F. 5:15(10) ack 1 win 1\n+0 < . 1:60001(60000) ack 1 win 1\n",
        "+0 write(4, ..., 999) = 999\n+86000 < . 1:1(0) ack 1 win 1\n",
    ] {
        let report = run(&format!("{opening}{segments}"), "odd");
        assert_ne!(report.outcome, Outcome::Unsupported, "{}", report.render());
    }
}

#[test]
fn a_tiny_segment_size_is_no_way_to_exhaust_memory() {
    let text = SCRIPT
        .replace("mss 1012", "mss 1")
        .replace("20000", "16000000");
    let report = run(&text, "tiny");
    assert_ne!(report.outcome, Outcome::Passed);
}

/// Returns an option of Multipath TCP with numbers that may be wrong.
fn any_option() -> impl Strategy<Value = String> {
    let signal = (
        0_u32..9000,
        0_u32..9000,
        0_u32..4000,
        0_u32..3000,
        any::<bool>(),
    )
        .prop_map(|(ack, seq, subflow, len, fin)| {
            let fin = if fin { " fin" } else { "" };
            format!("dss dack4={ack} dsn8={seq} ssn={subflow} dll={len} nocs{fin},nop,nop")
        });
    let other = prop::sample::select(vec![
        "dss dack8=1 nocs",
        "dss dack8=4294967295 dsn4=4294967295 dll=65535 nocs fin,nop,nop",
        "mp_prio backup=1,nop",
        "mp_prio backup=0,nop",
        "mp_reset 1",
        "mp_fastclose",
        "mp_join_ack sender_hmac=auto",
        "mp_join_syn token=auto",
        "mp_join_syn_ack sender_hmac=auto",
        "remove_address address_id=[1]",
        "remove_address address_id=[0]",
        "remove_address address_id=[9]",
        "add_address addr[e] hmac=auto",
        "add_address addr[c] addr_echo",
        "mpcapable v1 flags[flag_h] key[ckey,skey] mpcdatalen 700,nop,nop",
        "mpcapable v0 flags 0x0 nokey",
    ]);
    prop_oneof![signal, other.prop_map(str::to_owned)]
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

    #[test]
    fn any_text_is_answered(text in "[ -~\n]{0,200}") {
        let _ = run(&text, "any").to_json();
    }

    #[test]
    fn a_damaged_script_is_answered(
        at in 0..SCRIPT.len(),
        length in 0_usize..20,
        inserted in "[0-9a-zA-Z.,:;<>(){}%~+*=`'\"\n -]{0,12}",
    ) {
        let end = (at + length).min(SCRIPT.len());
        let text = format!("{}{inserted}{}", &SCRIPT[..at], &SCRIPT[end..]);
        let report = run(&text, "damaged");
        prop_assert!(report.outcome == Outcome::Passed || report.line.is_some());
    }

    #[test]
    fn a_damaged_script_of_multipath_is_answered(
        at in 0..MULTIPATH.len(),
        length in 0_usize..20,
        inserted in "[0-9a-zA-Z.,:;<>(){}\\[\\]_=' -]{0,12}",
    ) {
        let end = (at + length).min(MULTIPATH.len());
        let text = format!("{}{inserted}{}", &MULTIPATH[..at], &MULTIPATH[end..]);
        let report = run(&text, "damaged");
        prop_assert!(report.outcome == Outcome::Passed || report.line.is_some());
    }

    #[test]
    fn any_options_of_multipath_are_survived(
        segments in prop::collection::vec(
            (
                prop::sample::select(vec!["", "addr[a] > addr[b] ", "addr[d] > addr[c] "]),
                "[FRPS.]{1,2}",
                0_u32..3000,
                0_u32..1500,
                0_u32..9000,
                any_option(),
            ),
            1..20,
        ),
    ) {
        let mut text = MULTIPATH.split_once("+0 > . 1:1(0) ack 51").expect("it answers").0.to_owned();
        text.push_str("+0 write(4, ..., 5000) = 5000\n");
        for (ends, flags, seq, len, ack, option) in segments {
            let end = seq + len;
            text.push_str(&format!(
                "+.05 < {ends}{flags} {seq}:{end}({len}) ack {ack} win 99 <{option}>\n"
            ));
        }
        text.push_str("+0 close(4) = 0\n");
        let report = run(&text, "random");
        prop_assert!(report.outcome != Outcome::Failed || report.line.is_some());
        prop_assert!(report.outcome != Outcome::Invalid, "{}", report.render());
    }

    #[test]
    fn any_segments_are_survived(
        segments in prop::collection::vec(
            ("[SFRPEW.]{1,3}", 0_u32..3000, 0_u32..1500, 0_u32..30_000, 0_u32..600, 0_u32..25_000),
            1..20,
        ),
    ) {
        let opening = SCRIPT.split_once("+0 > P.").expect("the script sends").0;
        let mut text = opening.to_owned();
        for (flags, seq, len, ack, win, sack) in segments {
            let end = seq + len;
            let block = format!("{sack}:{}", sack + 1000);
            text.push_str(&format!(
                "+.05 < {flags} {seq}:{end}({len}) ack {ack} win {win} <sack {block}>\n"
            ));
        }
        let report = run(&text, "random");
        prop_assert!(report.outcome != Outcome::Failed, "{}", report.render());
    }
}
