//! `ptxsmith lsp`: a language server on standard input and output, for editors.
//!
//! The diagnostics are the warnings of `lint`. A hover shows the result of `eval` for a variable, or the
//! value and type of a constant.
//!
//! A small file is checked at each change. A large one is checked in a thread of its own; until that has
//! ended, a quick check of the statements that changed gives the diagnostics ([`checked`]).

mod checked;

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::thread;

use crossbeam_channel::{Receiver, Sender, select};
use lsp_server::{Connection, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{HoverRequest, Request as _};
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticSeverity, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, Hover, HoverContents, HoverParams, HoverProviderCapability, MarkupContent,
    MarkupKind, NumberOrString, Position, PublishDiagnosticsParams, Range, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use ptxsmith_campaign::input::InputProgram;
use ptxsmith_report::harmless::line;

use super::CommandContext;
use super::hover::hovered;
use super::lint::Warning;
use crate::exit::{Exit, Failure};
use checked::CheckedFile;

/// The size in bytes above which a file is checked in a thread of its own. It takes some 30 ms to check.
const LARGE: usize = 32 << 10;

/// Serves an editor until it shuts the server down.
pub fn run(_context: &CommandContext) -> Result<Exit, Failure> {
    // The error may quote all of a message.
    let beginning = |error: &dyn Error| error.to_string().chars().take(200).collect::<String>();
    let of_editor = |error: &dyn Error| Failure::BadInput(format!("the editor: {}", line(&beginning(error))));
    let (connection, threads) = Connection::stdio();
    serve(&connection).map_err(|error| of_editor(&*error))?;
    drop(connection);
    // A message that is none ends the reading thread.
    threads.join().map_err(|error| of_editor(&error))?;
    Ok(Exit::Success)
}

fn serve(connection: &Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
    let capabilities = ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    };
    connection.initialize(serde_json::to_value(capabilities)?)?;
    let (sender, results) = crossbeam_channel::unbounded();
    let mut documents = Documents { open: BTreeMap::new(), updates: 0, sender };
    let mut waiting: VecDeque<Message> = VecDeque::new();
    loop {
        let message = match waiting.pop_front() {
            Some(message) => message,
            None => match next(connection, &results) {
                Some(Event::Message(message)) => message,
                Some(Event::Checked(check)) => {
                    if let Some(diagnostics) = documents.checked(check) {
                        publish(connection, diagnostics)?;
                    }
                    continue;
                }
                None => return Ok(()),
            },
        };
        waiting.extend(connection.receiver.try_iter());
        match message {
            Message::Notification(change) if waiting.iter().any(|later| replaces(later, &change)) => {}
            Message::Request(request) if connection.handle_shutdown(&request)? => return Ok(()),
            Message::Request(request) => connection.sender.send(answer(&documents, request).into())?,
            Message::Notification(notification) => {
                if let Some(diagnostics) = noted(&mut documents, notification)? {
                    publish(connection, diagnostics)?;
                }
            }
            Message::Response(_) => {}
        }
    }
}

/// An event that the server waits for.
enum Event {
    Message(Message),
    Checked(FinishedCheck),
}

/// The check of a large file that a thread has finished.
struct FinishedCheck {
    uri: Uri,
    /// The update whose text was checked.
    update: u64,
    /// The result, or the reason why the file is no PTX.
    result: Result<CheckedFile, Failure>,
}

/// Waits for the next event; `None` if the editor has closed the connection.
fn next(connection: &Connection, results: &Receiver<FinishedCheck>) -> Option<Event> {
    select! {
        recv(connection.receiver) -> message => message.ok().map(Event::Message),
        recv(results) -> check => check.ok().map(Event::Checked),
    }
}

fn publish(
    connection: &Connection,
    diagnostics: PublishDiagnosticsParams,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let method = PublishDiagnostics::METHOD.to_owned();
    Ok(connection.sender.send(Notification::new(method, diagnostics).into())?)
}

/// Returns true if a later message replaces the text of the file that `change` is about. In that case the
/// earlier text is not checked, since checking a large file takes time.
fn replaces(later: &Message, change: &Notification) -> bool {
    let Message::Notification(later) = later else { return false };
    [&*later.method, &change.method] == [DidChangeTextDocument::METHOD; 2]
        && later.params["textDocument"]["uri"] == change.params["textDocument"]["uri"]
}

/// The open files.
struct Documents {
    /// The files by URI.
    open: BTreeMap<String, Document>,
    /// The number of updates of all files.
    updates: u64,
    /// Receives the results of threads that check large files.
    sender: Sender<FinishedCheck>,
}

/// An open file.
#[derive(Default)]
struct Document {
    text: String,
    /// The number of the update that brought the text.
    update: u64,
    /// The last check of the whole file, perhaps of an earlier text.
    checked: Option<CheckedFile>,
    /// Whether a thread checks the file, perhaps an earlier text.
    is_in_check: bool,
}

impl Documents {
    /// Takes a new text of a file. Returns its diagnostics, if they are known at once.
    fn update(&mut self, uri: Uri, text: String) -> Option<PublishDiagnosticsParams> {
        let document = self.open.entry(uri.as_str().to_owned()).or_default();
        document.text = text;
        self.updates += 1;
        document.update = self.updates;
        if document.text.len() < LARGE {
            let (checked, diagnostics) = match CheckedFile::new(document.text.clone()) {
                Ok(checked) => {
                    let diagnostics = diagnostics(&document.text, checked.warnings());
                    (Some(checked), diagnostics)
                }
                Err(failure) => (None, invalid(failure)),
            };
            document.checked = checked;
            return Some(PublishDiagnosticsParams::new(uri, diagnostics, None));
        }
        document.start_check(&uri, &self.sender);
        let warnings = document.checked.as_ref()?.recheck(&document.text)?;
        Some(PublishDiagnosticsParams::new(uri, diagnostics(&document.text, &warnings), None))
    }

    /// Takes the result of a thread. Returns the diagnostics, unless the text has changed since; then the
    /// new text is checked.
    fn checked(&mut self, check: FinishedCheck) -> Option<PublishDiagnosticsParams> {
        let FinishedCheck { uri, update, result } = check;
        let document = self.open.get_mut(uri.as_str())?;
        document.is_in_check = false;
        let diagnostics = match result {
            Ok(checked) => {
                let diagnostics = diagnostics(&document.text, checked.warnings());
                document.checked = Some(checked);
                diagnostics
            }
            Err(failure) => invalid(failure),
        };
        if update < document.update {
            document.start_check(&uri, &self.sender);
            return None;
        }
        Some(PublishDiagnosticsParams::new(uri, diagnostics, None))
    }
}

impl Document {
    /// Checks the file in a thread, unless one is at work.
    fn start_check(&mut self, uri: &Uri, sender: &Sender<FinishedCheck>) {
        if self.is_in_check {
            return;
        }
        self.is_in_check = true;
        let sender = sender.clone();
        let uri = uri.clone();
        let update = self.update;
        let text = self.text.clone();
        thread::spawn(move || {
            let result = CheckedFile::new(text);
            // An error means that the server has ended and needs no result.
            drop(sender.send(FinishedCheck { uri, update, result }));
        });
    }
}

fn diagnostics(text: &str, warnings: &[Warning]) -> Vec<Diagnostic> {
    let lines: Vec<&str> = text.split('\n').collect();
    warnings.iter().map(|warning| diagnostic(&lines, warning)).collect()
}

/// Returns the diagnostic of a file that is no PTX.
fn invalid(failure: Failure) -> Vec<Diagnostic> {
    match failure {
        Failure::BadInput(message) | Failure::Rendered(message) => {
            vec![Diagnostic::new_simple(Range::default(), message)]
        }
        _ => Vec::new(),
    }
}

/// Handles a notification about a file and returns the file's new diagnostics.
fn noted(
    documents: &mut Documents,
    notification: Notification,
) -> Result<Option<PublishDiagnosticsParams>, serde_json::Error> {
    let (uri, text) = match &*notification.method {
        DidOpenTextDocument::METHOD => {
            let DidOpenTextDocumentParams { text_document } = serde_json::from_value(notification.params)?;
            (text_document.uri, text_document.text)
        }
        DidChangeTextDocument::METHOD => {
            let DidChangeTextDocumentParams { text_document, content_changes } =
                serde_json::from_value(notification.params)?;
            // The server asked for full synchronization, so each change contains the whole text.
            let Some(change) = content_changes.into_iter().last() else { return Ok(None) };
            (text_document.uri, change.text)
        }
        DidCloseTextDocument::METHOD => {
            let DidCloseTextDocumentParams { text_document } = serde_json::from_value(notification.params)?;
            documents.open.remove(text_document.uri.as_str());
            return Ok(Some(PublishDiagnosticsParams::new(text_document.uri, Vec::new(), None)));
        }
        _ => return Ok(None),
    };
    Ok(documents.update(uri, text))
}

fn diagnostic(lines: &[&str], warning: &Warning) -> Diagnostic {
    let severity = match warning.level {
        "error" => DiagnosticSeverity::ERROR,
        "warning" => DiagnosticSeverity::WARNING,
        _ => DiagnosticSeverity::INFORMATION,
    };
    let releases = warning.releases.iter().map(|releases| format!(" ({releases})")).collect::<String>();
    let advice = warning.work_around.iter().map(|text| format!("\n{text}")).collect::<String>();
    Diagnostic {
        range: word_at(lines, warning.line, warning.column),
        severity: Some(severity),
        code: Some(NumberOrString::String(warning.id.to_owned())),
        code_description: warning
            .link
            .as_ref()
            .and_then(|link| Some(CodeDescription { href: link.parse().ok()? })),
        source: Some("ptxsmith".to_owned()),
        message: format!("{}{releases}{advice}", warning.message),
        ..Diagnostic::default()
    }
}

/// Returns the range of the word at a line and column. Both count from 1, the column in characters; the
/// protocol counts from 0 in UTF-16 units.
fn word_at(lines: &[&str], line: u32, column: u32) -> Range {
    let line = line.saturating_sub(1);
    let written = lines.get(line as usize).copied().unwrap_or_default();
    let (before, rest) = match written.char_indices().nth(column.saturating_sub(1) as usize) {
        Some((offset, _)) => written.split_at(offset),
        None => (written, ""),
    };
    let word = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '.'));
    let length: usize = word.map(char::len_utf16).sum();
    let start = before.encode_utf16().count() as u32;
    Range::new(Position::new(line, start), Position::new(line, start + length.max(1) as u32))
}

fn answer(documents: &Documents, request: Request) -> Response {
    if request.method != HoverRequest::METHOD {
        let message = format!("{} is not answered", request.method);
        return Response::new_err(request.id, lsp_server::ErrorCode::MethodNotFound as i32, message);
    }
    match serde_json::from_value::<HoverParams>(request.params) {
        Ok(params) => Response::new_ok(request.id, hover(documents, &params)),
        Err(error) => {
            let invalid = lsp_server::ErrorCode::InvalidParams as i32;
            Response::new_err(request.id, invalid, error.to_string())
        }
    }
}

fn hover(documents: &Documents, params: &HoverParams) -> Option<Hover> {
    let place = &params.text_document_position_params;
    let document = documents.open.get(place.text_document.uri.as_str())?;
    let offset = offset_of(&document.text, place.position)?;
    let program = InputProgram::parse("file".to_owned(), document.text.clone()).ok()?;
    let value = hovered(&program, offset)?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: None })
}

/// Converts a position of the protocol to a byte offset; `None` beyond the end of the text.
fn offset_of(text: &str, position: Position) -> Option<u32> {
    let start: usize = text.split_inclusive('\n').take(position.line as usize).map(str::len).sum();
    let line = text.get(start..)?.split('\n').next()?;
    let mut units = 0;
    for (index, character) in line.char_indices() {
        if units >= position.character as usize {
            return u32::try_from(start + index).ok();
        }
        units += character.len_utf16();
    }
    u32::try_from(start + line.len()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses a line with a comment that contains a character of two UTF-16 units.
    #[test]
    fn places_are_counted_in_lines_and_units_of_utf_16() {
        let text = "a\n/* 𝒳 */ .global .u32 x;\n";
        let column = "/* 𝒳 */ .global .u32 ".chars().count() as u32 + 1;
        let range = word_at(&text.split('\n').collect::<Vec<_>>(), 2, column);
        assert_eq!(range, Range::new(Position::new(1, 22), Position::new(1, 23)));
        assert_eq!(offset_of(text, range.start), text.find("x;").map(|at| at as u32));
        assert_eq!(offset_of(text, Position::new(0, 9)), Some(1));
    }
}
