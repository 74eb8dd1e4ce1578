//! A small web server for this machine only: the built page, and models beside it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path as UrlPath, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;
use tokio::net::TcpListener;
use tower_http::services::{ServeDir, ServeFile};
use tower_http::set_header::SetResponseHeaderLayer;

/// What the page may do: run its own scripts, styles, workers and wasm, and speak to this server. Nothing else,
/// so that a text pasted into the page has no way out of it.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
     style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self' blob:; \
     manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What the download page may do besides: reach where models come from. It holds no texts, and its workers inherit this.
pub(crate) const DOWNLOAD_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
     style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
     connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co; worker-src 'self' blob:; \
     manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// One model that the server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) licence: String,
    /// The name in the address: `/models/<file>`.
    pub(crate) file: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// In lower-case hex, of the file as it is on disk.
    pub(crate) sha256: String,
    pub(crate) default: bool,
    /// The adapters made for it.
    pub(crate) adapters: Vec<OfferedAdapter>,
}

/// One adapter that the server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedAdapter {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) licence: String,
    /// The name in the address, as a model's.
    pub(crate) file: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// In lower-case hex.
    pub(crate) sha256: String,
    /// Whether the page applies it to the model where nobody chose.
    pub(crate) default: bool,
}

#[derive(Debug)]
struct Models {
    registry: String,
    files: HashMap<String, PathBuf>,
}

/// Everything that the server answers.
pub(crate) fn router(dist: &Path, models: &[Offered]) -> Router {
    let registry: Vec<_> = models
        .iter()
        .map(|model| {
            json!({
                "name": model.name,
                "title": model.title,
                "description": model.description,
                "licence": model.licence,
                "file": model.file,
                "url": format!("/models/{}", url_segment(&model.file)),
                "bytes": model.bytes,
                "sha256": model.sha256,
                "default": model.default,
                "adapters": model.adapters.iter().map(adapter_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    let adapters =
        models.iter().flat_map(|model| &model.adapters).map(|one| (one.file.clone(), one.path.clone()));
    let models = Models {
        registry: serde_json::Value::from(registry).to_string(),
        files: models.iter().map(|model| (model.file.clone(), model.path.clone())).chain(adapters).collect(),
    };
    let always = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    // Any other spelling of this path gets the strict policy, under which the page can do less, never more.
    let download = Router::new()
        .route_service("/models.html", ServeFile::new(dist.join("models.html")))
        .layer(always(header::CONTENT_SECURITY_POLICY, DOWNLOAD_POLICY));
    Router::new()
        .route("/models/registry.json", get(registry_json))
        .route("/models/{file}", get(model_file))
        .with_state(Arc::new(models))
        .merge(download)
        .fallback_service(ServeDir::new(dist))
        .layer(SetResponseHeaderLayer::if_not_present(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(CONTENT_SECURITY_POLICY),
        ))
        .layer(always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(always(header::REFERRER_POLICY, "no-referrer"))
        // Stored copies are fine, but each use asks whether they still hold: a rebuilt page is seen at once.
        .layer(always(header::CACHE_CONTROL, "no-cache"))
}

fn adapter_json(adapter: &OfferedAdapter) -> serde_json::Value {
    json!({
        "name": adapter.name,
        "title": adapter.title,
        "description": adapter.description,
        "licence": adapter.licence,
        "file": adapter.file,
        "url": format!("/models/{}", url_segment(&adapter.file)),
        "bytes": adapter.bytes,
        "sha256": adapter.sha256,
        "default": adapter.default,
    })
}

/// A file name as one segment of an address: what RFC 3986 does not leave as it is becomes %XX.
fn url_segment(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

async fn registry_json(State(models): State<Arc<Models>>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], models.registry.clone()).into_response()
}

/// Only files that were named at the start are opened, so no name can lead elsewhere.
async fn model_file(
    State(models): State<Arc<Models>>,
    UrlPath(file): UrlPath<String>,
    request: Request,
) -> Response {
    let Some(path) = models.files.get(&file) else {
        return (StatusCode::NOT_FOUND, "This server has no such model.").into_response();
    };
    match ServeFile::new(path).try_call(request).await {
        Ok(response) => response.map(Body::new),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("The model file cannot be read: {error}"))
            .into_response(),
    }
}

/// Answers until the future is dropped.
pub(crate) async fn serve(listener: TcpListener, router: Router) -> std::io::Result<()> {
    axum::serve(listener, router).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpStream};

    struct Running {
        address: SocketAddr,
        folder: tempfile::TempDir,
        _runtime: tokio::runtime::Runtime,
    }

    struct Answer {
        status: u16,
        head: String,
        body: Vec<u8>,
    }

    impl Answer {
        fn header(&self, name: &str) -> Option<&str> {
            self.head.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                key.eq_ignore_ascii_case(name).then(|| value.trim())
            })
        }
    }

    impl Running {
        fn start() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let dist = folder.path().join("dist");
            std::fs::create_dir_all(dist.join("assets")).unwrap();
            std::fs::write(dist.join("index.html"), "<!doctype html><title>Page</title>").unwrap();
            std::fs::write(dist.join("models.html"), "<!doctype html><title>Models</title>").unwrap();
            std::fs::write(dist.join("assets/app.js"), "export {};").unwrap();
            std::fs::write(dist.join("assets/app.css"), "body {}").unwrap();
            std::fs::write(dist.join("assets/retort_bg.wasm"), b"\0asm\x01\0\0\0").unwrap();
            std::fs::write(dist.join("icon.svg"), "<svg/>").unwrap();
            std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
            std::fs::create_dir_all(folder.path().join("cache")).unwrap();
            let path = folder.path().join("cache/on-disk-name");
            std::fs::write(&path, b"GGUF0123456789").unwrap();
            let model = Offered {
                name: "tiny".to_owned(),
                title: "Tiny".to_owned(),
                description: "For \"tests\".".to_owned(),
                licence: "CC0-1.0".to_owned(),
                file: "tiny.gguf".to_owned(),
                path,
                bytes: 14,
                sha256: "00".repeat(32),
                default: true,
                adapters: vec![OfferedAdapter {
                    name: "tone".to_owned(),
                    title: "Tone".to_owned(),
                    description: "Hears the tone.".to_owned(),
                    licence: "CC0-1.0".to_owned(),
                    file: "tone.gguf".to_owned(),
                    path: folder.path().join("on-disk-adapter"),
                    bytes: 4,
                    sha256: "11".repeat(32),
                    default: true,
                }],
            };
            std::fs::write(folder.path().join("on-disk-adapter"), "tone").unwrap();
            let odd = Offered {
                file: "50% é#.gguf".to_owned(),
                default: false,
                adapters: Vec::new(),
                ..model.clone()
            };
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            let address = listener.local_addr().unwrap();
            runtime.spawn(serve(listener, router(&dist, &[model, odd])));
            Self { address, folder, _runtime: runtime }
        }

        /// Sends the request line as it is, so that no client tidies the path up first.
        fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
            let mut stream = TcpStream::connect(self.address).unwrap();
            write!(
                stream,
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
            )
            .unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            Answer { status, head, body: bytes[end + 4..].to_vec() }
        }

        fn get(&self, path: &str) -> Answer {
            self.ask("GET", path, "")
        }
    }

    #[test]
    fn files_come_with_the_types_that_browsers_insist_on() {
        let server = Running::start();
        for (path, kind) in [
            ("/", "text/html"),
            ("/index.html", "text/html"),
            ("/assets/app.js", "text/javascript"),
            ("/assets/app.css", "text/css"),
            // Streaming compilation refuses any other type.
            ("/assets/retort_bg.wasm", "application/wasm"),
            ("/icon.svg", "image/svg+xml"),
            ("/models/registry.json", "application/json"),
            ("/models/tiny.gguf", "application/octet-stream"),
        ] {
            let answer = server.get(path);
            assert_eq!(answer.status, 200, "{path}");
            assert_eq!(answer.header("content-type"), Some(kind), "{path}");
        }
        assert_eq!(server.get("/assets/retort_bg.wasm").body, b"\0asm\x01\0\0\0");
    }

    #[test]
    fn every_answer_carries_the_policy_even_errors() {
        let server = Running::start();
        let policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                      img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self' blob:; \
                      manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
        for (method, path, status) in [
            ("GET", "/", 200),
            ("HEAD", "/", 200),
            ("GET", "/assets/app.js", 200),
            ("GET", "/models/registry.json", 200),
            ("GET", "/models/tiny.gguf", 200),
            ("GET", "/no-such-page", 404),
            ("GET", "/models/no-such.gguf", 404),
            ("POST", "/", 405),
            ("POST", "/models/tiny.gguf", 405),
        ] {
            let answer = server.ask(method, path, "");
            assert_eq!(answer.status, status, "{method} {path}");
            for (name, value) in [
                ("content-security-policy", policy),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cache-control", "no-cache"),
            ] {
                assert_eq!(answer.header(name), Some(value), "{method} {path}: {name}");
            }
        }
    }

    #[test]
    fn only_the_download_page_may_reach_where_models_come_from() {
        let server = Running::start();
        let (page, rest) = (server.get("/models.html"), server.get("/"));
        let connect = |answer: &Answer| {
            let policy = answer.header("content-security-policy").unwrap().to_owned();
            policy.split("; ").find(|rule| rule.starts_with("connect-src")).unwrap().to_owned()
        };
        assert_eq!(page.status, 200);
        assert_eq!(page.header("content-type"), Some("text/html"));
        assert_eq!(
            connect(&page),
            "connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co"
        );
        assert_eq!(connect(&rest), "connect-src 'self'");
        // Apart from that the two are the same, and one page has one policy.
        assert_eq!(DOWNLOAD_POLICY.replace(&connect(&page), &connect(&rest)), CONTENT_SECURITY_POLICY);
        assert_eq!(page.head.to_lowercase().matches("content-security-policy").count(), 1);
        for path in ["/models%2ehtml", "/%6dodels.html", "//models.html", "/models.html/"] {
            assert_eq!(connect(&server.get(path)), "connect-src 'self'", "{path}");
        }
    }

    #[test]
    fn parts_of_files_can_be_asked_for() {
        let server = Running::start();
        // "GGUF0123456789": bytes 4 to 7 are "0123"; the last three are "789".
        for (range, expected, content_range) in [
            ("bytes=4-7", "0123", "bytes 4-7/14"),
            ("bytes=-3", "789", "bytes 11-13/14"),
            ("bytes=10-", "6789", "bytes 10-13/14"),
            ("bytes=12-99", "89", "bytes 12-13/14"),
        ] {
            let answer = server.ask("GET", "/models/tiny.gguf", &format!("Range: {range}\r\n"));
            assert_eq!(answer.status, 206, "{range}");
            assert_eq!(answer.body, expected.as_bytes(), "{range}");
            assert_eq!(answer.header("content-range"), Some(content_range), "{range}");
        }
        let answer = server.ask("GET", "/models/tiny.gguf", "Range: bytes=14-\r\n");
        assert_eq!((answer.status, answer.header("content-range")), (416, Some("bytes */14")));

        let answer = server.ask("GET", "/assets/app.js", "Range: bytes=0-5\r\n");
        assert_eq!((answer.status, answer.body.as_slice()), (206, b"export".as_slice()));

        let answer = server.ask("HEAD", "/models/tiny.gguf", "");
        assert_eq!((answer.status, answer.body.len()), (200, 0));
        assert_eq!(answer.header("content-length"), Some("14"));
        assert_eq!(answer.header("accept-ranges"), Some("bytes"));
    }

    #[test]
    fn an_unchanged_file_is_not_sent_twice() {
        let server = Running::start();
        let modified = server.get("/assets/app.js").header("last-modified").unwrap().to_owned();
        let answer = server.ask("GET", "/assets/app.js", &format!("If-Modified-Since: {modified}\r\n"));
        assert_eq!((answer.status, answer.body.len()), (304, 0));
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let server = Running::start();
        assert!(server.folder.path().join("secret.txt").is_file());
        for path in [
            "/../secret.txt",
            "/assets/../../secret.txt",
            "/%2e%2e/secret.txt",
            "/..%2fsecret.txt",
            "/assets/%2e%2e/%2e%2e/secret.txt",
            "/..%5csecret.txt",
            "//etc/passwd",
            "/%2fetc/passwd",
            "/models/../secret.txt",
            "/models/..%2f..%2fsecret.txt",
            "/models/%2e%2e%2fsecret.txt",
            "/models/on-disk-name",
            "/models/",
            "/%00",
        ] {
            let answer = server.get(path);
            assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.head);
            let body = String::from_utf8_lossy(&answer.body);
            assert!(!body.contains("secret") && !body.contains("root:"), "{path}: {body}");
        }
    }

    #[test]
    fn the_registry_lists_what_can_be_fetched() {
        let server = Running::start();
        let list: serde_json::Value =
            serde_json::from_slice(&server.get("/models/registry.json").body).unwrap();
        assert_eq!(
            list[0],
            json!({
                "name": "tiny",
                "title": "Tiny",
                "description": "For \"tests\".",
                "licence": "CC0-1.0",
                "file": "tiny.gguf",
                "url": "/models/tiny.gguf",
                "bytes": 14,
                "sha256": "00".repeat(32),
                "default": true,
                "adapters": [{
                    "name": "tone",
                    "title": "Tone",
                    "description": "Hears the tone.",
                    "licence": "CC0-1.0",
                    "file": "tone.gguf",
                    "url": "/models/tone.gguf",
                    "bytes": 4,
                    "sha256": "11".repeat(32),
                    "default": true,
                }],
            })
        );
        assert_eq!(list[1]["adapters"], json!([]));
        assert_eq!(server.get("/models/tone.gguf").body, b"tone");
        // A space is %20, the percent sign %25, é in UTF-8 C3 A9, the number sign %23.
        assert_eq!(list[1]["url"], "/models/50%25%20%C3%A9%23.gguf");
        assert_eq!(server.get("/models/50%25%20%C3%A9%23.gguf").body, b"GGUF0123456789");
        assert_eq!(server.get("/models/tiny.gguf").body, b"GGUF0123456789");
    }
}
