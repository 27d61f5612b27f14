//! Checks that a guest kernel works: `check_kernel KERNEL AGENT DELAY_MS COUNT`.

use fadeout_guest::{Config, check};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, agent, delay_ms, count] = arguments.as_slice() else {
        return Err("usage: check_kernel KERNEL AGENT DELAY_MS COUNT".into());
    };
    let mut config = Config::new("test", kernel.into(), agent.into());
    config.log = std::env::var_os("KERNEL_LOG").map(Into::into);
    let delay_ns = delay_ms.parse::<u64>()? * 1_000_000;
    let checked = check(&config, delay_ns, count.parse()?)?;
    println!("{}: {:?} ns", checked.release, checked.echoes);
    Ok(())
}
