//! Downloads by the two libraries, whose interfaces have the same names.

/// Declares a module for a library: a server that sends a file on request, and its client.
macro_rules! stack {
    ($library:ident) => {
        pub mod $library {
            use rustls::RootCertStore;
            use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
            use std::net::{Ipv4Addr, SocketAddr};
            use std::sync::Arc;
            use std::time::{Duration, Instant};
            use $library::congestion::{CubicConfig, NewRenoConfig};
            use $library::{ClientConfig, Endpoint, ServerConfig, TransportConfig};

            /// Bytes of a request.
            const REQUEST: usize = 100;
            /// Pause between two downloads, after which the link is empty.
            const PAUSE: Duration = Duration::from_millis(500);

            /// Returns the durations of downloads of `size` bytes from the server at `server`. The
            /// client sends to the link. A duration contains the handshake and the request.
            pub async fn download(
                control: &str,
                server: SocketAddr,
                link: SocketAddr,
                (size, count): (usize, usize),
            ) -> Vec<f64> {
                let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()])
                    .expect("a certificate");
                let certificate = CertificateDer::from(signed.cert);
                let key = PrivatePkcs8KeyDer::from(signed.key_pair.serialize_der());
                let transport = Arc::new(transport(control));
                let mut config =
                    ServerConfig::with_single_cert(vec![certificate.clone()], key.into())
                        .expect("a key of the certificate");
                config.transport_config(Arc::clone(&transport));
                let endpoint = Endpoint::server(config, server).expect("a free address");
                tokio::spawn(serve(endpoint, size));
                let mut roots = RootCertStore::empty();
                roots.add(certificate).expect("a certificate");
                let mut config =
                    ClientConfig::with_root_certificates(Arc::new(roots)).expect("a root");
                config.transport_config(transport);
                let mut seconds = Vec::new();
                for _ in 0..count {
                    seconds.push(fetch(&config, link, size).await);
                    tokio::time::sleep(PAUSE).await;
                }
                seconds
            }

            fn transport(control: &str) -> TransportConfig {
                let mut config = TransportConfig::default();
                if control == "cubic" {
                    config.congestion_controller_factory(Arc::new(CubicConfig::default()));
                } else {
                    config.congestion_controller_factory(Arc::new(NewRenoConfig::default()));
                }
                config
            }

            /// Sends a file of `size` bytes to each client that requests it.
            async fn serve(endpoint: Endpoint, size: usize) {
                while let Some(incoming) = endpoint.accept().await {
                    tokio::spawn(async move {
                        let connection = incoming.await.expect("a handshake");
                        let (mut answer, mut request) =
                            connection.accept_bi().await.expect("a request");
                        request.read_to_end(REQUEST).await.expect("a request");
                        answer.write_all(&vec![0; size]).await.expect("a client");
                        answer.finish().expect("an open stream");
                        connection.closed().await;
                    });
                }
            }

            /// Returns the duration of a download on a new connection, in seconds.
            async fn fetch(config: &ClientConfig, link: SocketAddr, size: usize) -> f64 {
                #[allow(unused_mut)] // Only one of the libraries changes the endpoint.
                let mut client =
                    Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).expect("a socket");
                client.set_default_client_config(config.clone());
                let begin = Instant::now();
                let connecting = client.connect(link, "localhost").expect("an address");
                let connection = connecting.await.expect("a handshake");
                let (mut request, mut answer) = connection.open_bi().await.expect("a stream");
                request.write_all(&[0; REQUEST]).await.expect("a server");
                request.finish().expect("an open stream");
                let (mut read, mut piece) = (0, vec![0; 1 << 16]);
                while let Some(len) = answer.read(&mut piece).await.expect("an answer") {
                    read += len;
                }
                let seconds = begin.elapsed().as_secs_f64();
                assert_eq!(read, size, "the file is complete");
                connection.close(0_u32.into(), b"");
                client.wait_idle().await;
                seconds
            }
        }
    };
}

stack!(noq);
stack!(quinn);
