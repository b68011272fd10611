//! `ptxsmith lsp`: a language server on standard input and output, for editors.
//!
//! The diagnostics are the warnings of `lint`. A hover shows the result of `eval` for a variable, or the
//! value and type of a constant.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;

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

use super::CommandContext;
use super::hover::hovered;
use super::lint::{Warning, of_program};
use crate::exit::{Exit, Failure};

/// Serves an editor until it shuts the server down.
pub fn run(_context: &CommandContext) -> Result<Exit, Failure> {
    let (connection, threads) = Connection::stdio();
    serve(&connection).map_err(|error| Failure::BadInput(format!("the editor: {error}")))?;
    drop(connection);
    threads.join()?;
    Ok(Exit::Success)
}

fn serve(connection: &Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
    let capabilities = ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    };
    connection.initialize(serde_json::to_value(capabilities)?)?;
    let mut documents = BTreeMap::new();
    let mut waiting: VecDeque<Message> = VecDeque::new();
    loop {
        let Some(message) = waiting.pop_front().or_else(|| connection.receiver.recv().ok()) else {
            return Ok(());
        };
        waiting.extend(connection.receiver.try_iter());
        match message {
            Message::Notification(change) if waiting.iter().any(|later| replaces(later, &change)) => {}
            Message::Request(request) if connection.handle_shutdown(&request)? => return Ok(()),
            Message::Request(request) => connection.sender.send(answer(&documents, request).into())?,
            Message::Notification(notification) => {
                if let Some(diagnostics) = noted(&mut documents, notification)? {
                    let method = PublishDiagnostics::METHOD.to_owned();
                    connection.sender.send(Notification::new(method, diagnostics).into())?;
                }
            }
            Message::Response(_) => {}
        }
    }
}

/// Returns true if a later message replaces the text of the file that `change` is about. In that case the
/// earlier text is not checked, since checking a large file takes time.
fn replaces(later: &Message, change: &Notification) -> bool {
    let Message::Notification(later) = later else { return false };
    [&*later.method, &change.method] == [DidChangeTextDocument::METHOD; 2]
        && later.params["textDocument"]["uri"] == change.params["textDocument"]["uri"]
}

/// The open files by URI.
type Documents = BTreeMap<String, Document>;

/// An open file.
struct Document {
    text: String,
    /// The parsed program, or `None` if the text is not valid syntax.
    program: Option<InputProgram>,
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
            documents.remove(text_document.uri.as_str());
            return Ok(Some(PublishDiagnosticsParams::new(text_document.uri, Vec::new(), None)));
        }
        _ => return Ok(None),
    };
    Ok(Some(opened(documents, uri, text)))
}

fn opened(documents: &mut Documents, uri: Uri, text: String) -> PublishDiagnosticsParams {
    let (program, diagnostics) = match InputProgram::parse("file".to_owned(), text.clone()) {
        Ok(program) => {
            let warnings = of_program(&program, "", &[], false);
            let diagnostics = warnings.into_iter().map(|warning| diagnostic(&text, warning)).collect();
            (Some(program), diagnostics)
        }
        Err(Failure::BadInput(message) | Failure::Rendered(message)) => {
            (None, vec![Diagnostic::new_simple(Range::default(), message)])
        }
        Err(_) => (None, Vec::new()),
    };
    documents.insert(uri.as_str().to_owned(), Document { text, program });
    PublishDiagnosticsParams::new(uri, diagnostics, None)
}

fn diagnostic(text: &str, warning: Warning) -> Diagnostic {
    let severity = match warning.level {
        "error" => DiagnosticSeverity::ERROR,
        "warning" => DiagnosticSeverity::WARNING,
        _ => DiagnosticSeverity::INFORMATION,
    };
    let releases = warning.releases.map(|releases| format!(" ({releases})")).unwrap_or_default();
    let advice = warning.work_around.map(|text| format!("\n{text}")).unwrap_or_default();
    Diagnostic {
        range: word_at(text, warning.line, warning.column),
        severity: Some(severity),
        code: Some(NumberOrString::String(warning.id.to_owned())),
        code_description: warning.link.and_then(|link| Some(CodeDescription { href: link.parse().ok()? })),
        source: Some("ptxsmith".to_owned()),
        message: format!("{}{releases}{advice}", warning.message),
        ..Diagnostic::default()
    }
}

/// Returns the range of the word at a line and column. Both count from 1, the column in characters; the
/// protocol counts from 0 in UTF-16 units.
fn word_at(text: &str, line: u32, column: u32) -> Range {
    let line = line.saturating_sub(1);
    let written = text.split('\n').nth(line as usize).unwrap_or_default();
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
    let document = documents.get(place.text_document.uri.as_str())?;
    let offset = offset_of(&document.text, place.position)?;
    let value = hovered(document.program.as_ref()?, offset)?;
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
        let range = word_at(text, 2, column);
        assert_eq!(range, Range::new(Position::new(1, 22), Position::new(1, 23)));
        assert_eq!(offset_of(text, range.start), text.find("x;").map(|at| at as u32));
        assert_eq!(offset_of(text, Position::new(0, 9)), Some(1));
    }
}
