//! `ptxsmith lsp`, tested over its protocol with messages as editors send them.

use std::io::{BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lsp_server::Message;
use serde_json::{Value, json};

/// The first message of Helix, reduced to the capabilities that servers use.
const HELIX: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"general":{"positionEncodings":["utf-8","utf-32","utf-16"]},"textDocument":{"hover":{"contentFormat":["markdown"]},"publishDiagnostics":{"codeDescriptionSupport":true,"versionSupport":true}},"workspace":{"applyEdit":true,"configuration":true}},"clientInfo":{"name":"helix","version":"25.01"},"processId":1,"rootPath":"/w","rootUri":"file:///w","workspaceFolders":[{"name":"w","uri":"file:///w"}]}}"#;
/// The first message of VS Code, reduced in the same way.
const VS_CODE: &str = r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"processId":7,"clientInfo":{"name":"Visual Studio Code","version":"1.95.0"},"locale":"en","rootUri":null,"capabilities":{"textDocument":{"synchronization":{"dynamicRegistration":true,"didSave":true},"hover":{"dynamicRegistration":true,"contentFormat":["markdown","plaintext"]}}},"trace":"off","workspaceFolders":null}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#;

const TEXT: &str = ".version 7.8\n.target sm_80\n.address_size 64\n.global .s32 x[2][2] = {{1}, {3}};\n.global .u64 y = 1 << 40;\n";

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(initialize: &str) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ptxsmith"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Server { child, input, output };
        server.send(initialize);
        let Message::Response(answer) = server.read() else { panic!("no answer") };
        assert_eq!(answer.response_result.unwrap()["capabilities"]["hoverProvider"], true);
        server.send(INITIALIZED);
        server
    }

    fn send(&mut self, message: &str) {
        write!(self.input, "Content-Length: {}\r\n\r\n{message}", message.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    fn read(&mut self) -> Message {
        Message::read(&mut self.output).unwrap().expect("the server ends")
    }

    fn diagnostics(&mut self) -> Vec<Value> {
        let Message::Notification(note) = self.read() else { panic!("no notification") };
        assert_eq!(note.method, "textDocument/publishDiagnostics");
        note.params["diagnostics"].as_array().unwrap().clone()
    }

    fn open(&mut self, text: &str) -> Vec<Value> {
        let document = json!({"uri": "file:///w/a.ptx", "languageId": "ptx", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics()
    }

    fn change(&mut self, text: &str) -> Vec<Value> {
        let document = json!({"uri": "file:///w/a.ptx", "version": 2});
        let params = json!({"textDocument": document, "contentChanges": [{ "text": text }]});
        self.notify("textDocument/didChange", params);
        self.diagnostics()
    }

    fn hover(&mut self, line: u32, character: u32) -> Option<String> {
        let params = json!({"textDocument": {"uri": "file:///w/a.ptx"}, "position": {"line": line, "character": character}});
        self.send(
            &json!({"jsonrpc": "2.0", "id": 9, "method": "textDocument/hover", "params": params}).to_string(),
        );
        let Message::Response(answer) = self.read() else { panic!("no answer") };
        answer.response_result.unwrap()["contents"]["value"].as_str().map(str::to_owned)
    }

    fn end(mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":10,"method":"shutdown","params":null}"#);
        self.read();
        self.send(r#"{"jsonrpc":"2.0","method":"exit","params":null}"#);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn an_editor_gets_the_warnings_of_lint_with_codes_that_link_to_pages() {
    for initialize in [HELIX, VS_CODE] {
        let mut server = Server::start(initialize);
        let found = server.open(TEXT);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&found[0]["code"], &found[0]["severity"]), (&json!("incomplete-rows-packed"), &json!(2)));
        assert_eq!(found[0]["range"]["start"]["line"], 3);
        let page = found[0]["codeDescription"]["href"].as_str().unwrap();
        assert!(page.ends_with("/deviations/incomplete-rows-packed.md"), "{page}");
        assert_eq!(server.change(&TEXT.replace("{{1}, {3}}", "{{1, 0}, {3, 0}}")), [json!(null); 0]);
        let refused = server.change(&TEXT.replace("{{1}, {3}}", "5"));
        assert_eq!(
            (refused[0]["severity"].as_u64(), refused[0]["range"]["start"]["line"].as_u64()),
            (Some(1), Some(3))
        );
        assert!(!server.change("not PTX").is_empty());
        server.end();
    }
}

#[test]
fn a_change_of_a_large_file_is_checked_at_once_and_then_the_whole_file() {
    let filler: String = (0..2_000).map(|n| format!(".global .u32 filler{n} = {n} + 1;\n")).collect();
    let text = format!("{TEXT}{filler}");
    let places = |found: &[Value]| -> Vec<(Value, Value)> {
        found.iter().map(|one| (one["range"]["start"]["line"].clone(), one["code"].clone())).collect()
    };
    let rows = |line: u32| (json!(line), json!("incomplete-rows-packed"));
    let mut server = Server::start(HELIX);
    assert_eq!(places(&server.open(&text)), [rows(3)]);
    let more = text.replace("filler9 = 9 + 1", "filler9 = 8;\n.global .s32 w[2][2] = {{1}, {3}}");
    let line = more.lines().position(|line| line.contains(" w[2]")).unwrap() as u32;
    let quick = server.change(&more);
    assert_eq!(places(&quick), [rows(3), rows(line)]);
    let whole = server.diagnostics();
    assert_eq!(whole, quick);
    server.end();
}

#[test]
fn a_hover_shows_bytes_and_clauses_of_a_variable_and_value_and_type_of_a_constant() {
    let mut server = Server::start(HELIX);
    server.open(TEXT);
    let variable = server.hover(3, 13).unwrap();
    assert!(variable.contains("bytes    01000000 00000000 03000000 00000000"), "{variable}");
    assert!(variable.contains("5.4.4/incomplete-inner"), "{variable}");
    let constant = server.hover(4, 19).unwrap();
    assert!(constant.starts_with("`1 << 40` is 1099511627776 of `.s64`"), "{constant}");
    assert!(constant.contains("4.5.5/shift-left"), "{constant}");
    assert_eq!(server.hover(0, 2), None);
    server.end();
}

#[test]
fn a_message_that_is_none_is_an_error_of_the_editor() {
    let mut server = Server::start(HELIX);
    server.send("{");
    assert_eq!(server.child.wait().unwrap().code(), Some(2));
}
