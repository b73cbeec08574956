//! Rayon behind a C interface. A closure is the address of a function and that of what it captured.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ffi::{c_char, c_int, c_void, CString};
use std::sync::OnceLock;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Closure {
    call: extern "C" fn(*const c_void),
    captured: *const c_void,
}
// Whoever passes one waits until it has been called, wherever that is.
unsafe impl Sync for Closure {}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Body {
    call: extern "C" fn(*const c_void, c_int),
    captured: *const c_void,
}
unsafe impl Sync for Body {}

impl Closure {
    fn call(self) {
        (self.call)(self.captured)
    }
}
impl Body {
    fn call(&self, i: c_int) {
        (self.call)(self.captured, i)
    }
}

/// A pool of as many workers, or null.
#[no_mangle]
pub extern "C" fn rayon_start(workers: c_int) -> *mut ThreadPool {
    match ThreadPoolBuilder::new()
        .num_threads(workers as usize)
        .build()
    {
        Ok(pool) => Box::into_raw(Box::new(pool)),
        Err(_) => std::ptr::null_mut(),
    }
}

/// # Safety
/// `pool` is from `rayon_start`, and nothing runs on it.
#[no_mangle]
pub unsafe extern "C" fn rayon_stop(pool: *mut ThreadPool) {
    drop(Box::from_raw(pool));
}

/// # Safety
/// `pool` is from `rayon_start`.
#[no_mangle]
pub unsafe extern "C" fn rayon_run(pool: *const ThreadPool, f: Closure) {
    (*pool).install(|| f.call());
}

/// Calls `here` at once; meanwhile another worker can steal `spawned`.
#[no_mangle]
pub extern "C" fn rayon_join(spawned: Closure, here: Closure) {
    rayon::join(|| here.call(), || spawned.call());
}

/// A parallel iterator, which Rayon's manual prefers to a scope with spawns; each iteration is a task.
#[no_mangle]
pub extern "C" fn rayon_for_each(n: c_int, body: Body) {
    (0..n)
        .into_par_iter()
        .with_max_len(1)
        .for_each(|i| body.call(i));
}

/// Rayon's version, which the lock file names.
#[no_mangle]
pub extern "C" fn rayon_version() -> *const c_char {
    static VERSION: OnceLock<CString> = OnceLock::new();
    let find = || {
        let after = include_str!("../Cargo.lock")
            .split("name = \"rayon\"\nversion = \"")
            .nth(1);
        CString::new(after.and_then(|text| text.split('"').next()).unwrap_or("?")).unwrap()
    };
    VERSION.get_or_init(find).as_ptr()
}
