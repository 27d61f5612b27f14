//! Kernels that were built on this machine. Each has a folder in the user's cache. It contains the
//! kernel (`linux`), the agents for different versions of fadeout (`agent-…`) and the release
//! (`release`).

use crate::agent;
use std::path::{Path, PathBuf};

/// A kernel that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Release, as printed by `uname -r`.
    pub release: String,
    /// Folder of the kernel.
    pub folder: PathBuf,
}

impl Installed {
    /// Returns the path of the executable.
    pub fn kernel(&self) -> PathBuf {
        self.folder.join("linux")
    }
    /// Returns the path of the agent.
    pub fn agent(&self) -> PathBuf {
        self.folder.join(agent::file_name())
    }
}

/// Returns the folder of all kernels: `fadeout/kernels` in `XDG_CACHE_HOME`, or in `~/.cache`.
pub fn folder() -> PathBuf {
    let given = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = given.filter(|path| path.is_absolute()).or_else(|| {
        let home = std::env::var_os("HOME")?;
        Some(Path::new(&home).join(".cache"))
    });
    let cache = cache.unwrap_or_else(std::env::temp_dir);
    cache.join("fadeout").join("kernels")
}

/// Returns every kernel that this version of fadeout can use, the newest release first.
pub fn list() -> Vec<Installed> {
    list_in(&folder())
}

fn list_in(folder: &Path) -> Vec<Installed> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Installed> = entries
        .filter_map(|entry| {
            let folder = entry.path();
            // The name of an incomplete installation begins with a dot.
            if entry.file_name().to_string_lossy().starts_with('.') {
                return None;
            }
            let release = std::fs::read_to_string(folder.join("release")).ok()?;
            let release = release.trim().to_owned();
            let kernel = Installed { release, folder };
            kernel.agent().is_file().then_some(kernel)
        })
        .collect();
    found.sort_by(|a, b| {
        let newest = numbers(&b.release).cmp(&numbers(&a.release));
        newest.then_with(|| a.folder.cmp(&b.folder))
    });
    found
}

/// Returns the newest kernel of a version. `6.12` means any 6.12.x. `None` if there is none.
pub fn find(version: &str) -> Option<Installed> {
    let mut kernels = list().into_iter();
    kernels.find(|kernel| is_of(&kernel.release, version))
}

fn is_of(release: &str, version: &str) -> bool {
    let rest = release.strip_prefix(version);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '+']))
}

fn numbers(release: &str) -> Vec<u64> {
    let parts = release.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_a_version_is_no_prefix_of_digits() {
        let folder = std::env::temp_dir().join(format!("fadeout-kernels-{}", std::process::id()));
        for (name, release) in [("a", "6.9.1"), ("b", "6.12.3"), (".new", "7.0.0")] {
            std::fs::create_dir_all(folder.join(name)).expect("a folder");
            std::fs::write(folder.join(name).join("release"), release).expect("a file");
            std::fs::write(folder.join(name).join(agent::file_name()), "").expect("a file");
        }
        // This kernel was built by another version of fadeout, with another agent.
        std::fs::create_dir_all(folder.join("old")).expect("a folder");
        std::fs::write(folder.join("old").join("release"), "6.13.0").expect("a file");
        std::fs::create_dir_all(folder.join("empty")).expect("a folder");
        let found = list_in(&folder);
        std::fs::remove_dir_all(&folder).expect("a folder");
        let releases: Vec<&str> = found.iter().map(|one| one.release.as_str()).collect();
        assert_eq!(releases, ["6.12.3", "6.9.1"]);
        assert!(is_of("6.12.3", "6.12") && is_of("6.12.3", "6.12.3"));
        assert!(!is_of("6.12.3", "6.1") && is_of("6.12-rc1", "6.12"));
    }
}
