// SPDX-License-Identifier: Apache-2.0
//
// Reports the operations of Swift's Mutex to ThreadSanitizer. The slow path of Mutex is in Swift's
// library, which is not instrumented, so each contended lock would be reported as a race. This library
// is preloaded and forwards each call.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// Swift passes `self` of a method in a dedicated register.
#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef METHOD void (*Lock)(uint32_t thread, SELF void *mutex);
typedef METHOD _Bool (*TryLock)(SELF void *mutex);
typedef METHOD void (*Unlock)(SELF void *mutex);

METHOD void calotype_lock(uint32_t thread, SELF void *mutex) __asm__(LOCK);
METHOD _Bool calotype_try_lock(SELF void *mutex) __asm__(TRY_LOCK);
METHOD void calotype_unlock(SELF void *mutex) __asm__(UNLOCK);

METHOD void calotype_lock(uint32_t thread, SELF void *mutex) {
    ((Lock)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

METHOD _Bool calotype_try_lock(SELF void *mutex) {
    _Bool is_locked = ((TryLock)dlsym(RTLD_NEXT, TRY_LOCK))(mutex);
    if (is_locked && __tsan_acquire) __tsan_acquire(mutex);
    return is_locked;
}

METHOD void calotype_unlock(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((Unlock)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
