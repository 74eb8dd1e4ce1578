//! FLASK.
