// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "zeroed_memory.h"

#if defined(__linux__) && defined(__LP64__)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *zeroed_malloc(size_t count) { return calloc(1, count); }

static int zeroed_memalign(void **result, size_t alignment, size_t count) {
    int problem = posix_memalign(result, alignment, count);
    if (problem == 0) memset(*result, 0, count);
    return problem;
}

// The operators of the C++ library that the decoders use; they throw if memory is exhausted.
static void *(*operator_new)(size_t);
static void *(*operator_new_array)(size_t);

static void *zeroed_new(size_t count) { return memset(operator_new(count), 0, count); }

static void *zeroed_new_array(size_t count) { return memset(operator_new_array(count), 0, count); }

static void *replacement(const char *symbol) {
    if (strcmp(symbol, "malloc") == 0) return (void *)zeroed_malloc;
    if (strcmp(symbol, "posix_memalign") == 0) return (void *)zeroed_memalign;
    if (strcmp(symbol, "_Znwm") == 0 && operator_new) return (void *)zeroed_new;
    if (strcmp(symbol, "_Znam") == 0 && operator_new_array) return (void *)zeroed_new_array;
    return NULL;
}

/// The dynamic section of a library.
typedef struct {
    const ElfW(Sym) *symbols;
    const char *names;
    const ElfW(Rela) *relocations[2];
    size_t counts[2];
} library_tables;

static const void *absolute(const struct link_map *map, ElfW(Addr) address) {
    // glibc has already added the load address, other C libraries have not.
    return (const void *)(address < map->l_addr ? address + map->l_addr : address);
}

static library_tables tables_of(const struct link_map *map) {
    library_tables tables = {0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB: tables.symbols = absolute(map, entry->d_un.d_ptr); break;
        case DT_STRTAB: tables.names = absolute(map, entry->d_un.d_ptr); break;
        case DT_JMPREL: tables.relocations[0] = absolute(map, entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: tables.counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELA: tables.relocations[1] = absolute(map, entry->d_un.d_ptr); break;
        case DT_RELASZ: tables.counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        default: break;
        }
    }
    return tables;
}

/// The RELRO pages of a library, which the loader has made read-only after relocation.
typedef struct {
    ElfW(Addr) library, start, end;
} protected_pages;

static int find_protected_pages(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size;
    protected_pages *pages = result;
    if (info->dlpi_addr != pages->library) return 0;
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_GNU_RELRO) continue;
        pages->start = (info->dlpi_addr + part->p_vaddr) & ~(page - 1);
        pages->end = (info->dlpi_addr + part->p_vaddr + part->p_memsz) & ~(page - 1);
    }
    return 1;
}

static bool protect(const protected_pages *pages, int protection) {
    return pages->start >= pages->end
           || mprotect((void *)pages->start, pages->end - pages->start, protection) == 0;
}

static bool redirect(const struct link_map *map) {
    library_tables tables = tables_of(map);
    if (!tables.symbols || !tables.names) return false;
    bool is_found = false;
    for (int list = 0; list < 2; list++) {
        for (size_t i = 0; tables.relocations[list] && i < tables.counts[list]; i++) {
            const ElfW(Rela) *relocation = &tables.relocations[list][i];
            size_t index = ELF64_R_SYM(relocation->r_info);
            // Only relocations to the address of an imported function.
            if (index == 0 || tables.symbols[index].st_shndx != SHN_UNDEF
                || relocation->r_addend != 0)
                continue;
            void *function = replacement(tables.names + tables.symbols[index].st_name);
            if (!function) continue;
            *(void **)(map->l_addr + relocation->r_offset) = function;
            is_found = true;
        }
    }
    return is_found;
}

bool calotype_zero_memory_of_library(const char *name) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library) return false;
    if (!operator_new) operator_new = (void *(*)(size_t))dlsym(library, "_Znwm");
    if (!operator_new_array) operator_new_array = (void *(*)(size_t))dlsym(library, "_Znam");
    struct link_map *map = NULL;
    bool is_found = false;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map) {
        protected_pages pages = {.library = map->l_addr};
        dl_iterate_phdr(find_protected_pages, &pages);
        if (protect(&pages, PROT_READ | PROT_WRITE)) {
            is_found = redirect(map);
            protect(&pages, PROT_READ);
        }
    }
    dlclose(library);
    return is_found;
}

#else

bool calotype_zero_memory_of_library(const char *name) {
    (void)name;
    return false;
}

#endif
