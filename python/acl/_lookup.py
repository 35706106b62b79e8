# SPDX-License-Identifier: Apache-2.0
"""Gives a module the functions of a table: those whose C function a library exports."""

from types import ModuleType

from . import _call


def functions(namespace, tables):
    """Returns the module's __getattr__ and __dir__.

    `tables` are pairs of a library and a table of Python name and C function. A function is made
    when it is first looked up.
    """
    module = namespace["__name__"]
    declared = {
        name: _call.Declaration(row, library)
        for library, table in tables
        for name, row in table.items()
    }

    def look_up(name):
        if name.startswith("__"):
            raise AttributeError(f"module {module} has no attribute {name}")
        declaration = declared.get(name)
        if declaration is None:
            raise AttributeError(
                f"{module} has no {name} in openaclnn; dir({module}) lists what it has"
            )
        if not declaration.exists():
            raise AttributeError(
                f"{module}.{name} calls {declaration.c_name}, which openaclnn does not have"
            )
        namespace[name] = made = _call.make(declaration, f"{module}.{name}")
        return made

    def is_public(name):
        value = namespace[name]
        # The modules that this one imports are not part of it.
        is_foreign = isinstance(value, ModuleType) and not value.__name__.startswith(f"{module}.")
        return not name.startswith("_") and not is_foreign

    def listed():
        found = {name for name, declaration in declared.items() if declaration.exists()}
        return sorted(found.union(filter(is_public, namespace)))

    return look_up, listed
