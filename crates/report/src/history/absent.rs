//! Replaces the database in a build without the feature `sqlite`: opening it always fails.

use std::path::Path;
use std::time::SystemTime;

use super::{Entered, HistoryError, Run, Seen};
use crate::Report;
use crate::folder::Folder;

/// A history that cannot be opened in this build.
pub enum History {}

impl History {
    /// # Errors
    /// Always.
    pub fn open(_: &Path) -> Result<History, HistoryError> {
        Err(HistoryError::Absent)
    }

    /// # Errors
    /// Always.
    pub fn open_existing(_: &Path) -> Result<History, HistoryError> {
        Err(HistoryError::Absent)
    }

    /// Never called: there is no history.
    pub fn enter(&mut self, _: &Folder, _: &str, _: SystemTime) -> Result<Entered, HistoryError> {
        match *self {}
    }

    /// Never called: there is no history.
    pub fn runs(&self) -> Result<Vec<Run>, HistoryError> {
        match *self {}
    }

    /// Never called: there is no history.
    pub fn findings(&self) -> Result<Vec<Seen>, HistoryError> {
        match *self {}
    }

    /// Never called: there is no history.
    pub fn tell_first_seen(&self, _: &mut Report) -> Result<(), HistoryError> {
        match *self {}
    }
}
