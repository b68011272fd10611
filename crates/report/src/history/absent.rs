//! Replaces the database in a build without the feature `sqlite`: opening it always fails.

use std::path::Path;
use std::time::SystemTime;

use super::{HistoryError, RecordedCampaign, RecordedFinding, Recording};
use crate::Report;
use crate::folder::Folder;

/// A history that cannot be opened in this build.
pub enum AbsentHistory {}

impl AbsentHistory {
    /// # Errors
    /// Always.
    pub fn open(_: &Path) -> Result<AbsentHistory, HistoryError> {
        Err(HistoryError::Absent)
    }

    /// # Errors
    /// Always.
    pub fn open_existing(_: &Path) -> Result<AbsentHistory, HistoryError> {
        Err(HistoryError::Absent)
    }

    /// Never called: there is no history.
    pub fn record(&mut self, _: &Folder, _: &str, _: SystemTime) -> Result<Recording, HistoryError> {
        match *self {}
    }

    /// Never called: there is no history.
    pub fn runs(&self) -> Result<Vec<RecordedCampaign>, HistoryError> {
        match *self {}
    }

    /// Never called: there is no history.
    pub fn findings(&self) -> Result<Vec<RecordedFinding>, HistoryError> {
        match *self {}
    }

    /// Never called: there is no history.
    pub fn set_first_seen(&self, _: &mut Report) -> Result<(), HistoryError> {
        match *self {}
    }
}
