"""Kernels inside kernels: lowered and linked, never made into machine code by themselves.

Numba compiles a function that a kernel calls as if it were called from Python: with wrappers for
Python and for C, optimised, and with machine code of its own. The kernel then links its LLVM code
and optimises it once more, inlined. Of the functions behind the kernels that Python calls, nine in
ten are such inner ones. `Kernel` is a dispatcher that is compiled as ever where Python calls it,
and that hands a leaner twin to kernels that call it: LLVM's code, optimised with its caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


class _LinkedLibrary(JITCodeLibrary):
    """Code that others link, as it was lowered: it is optimised where it is linked."""

    @property
    def reloads(self) -> Any:
        """What the code needs done again when it is loaded from the cache."""
        return self._reload_init

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _Entry:
    """By what a kernel finds the code of an inner one; there is nothing to call."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):
    """From Numba's code to LLVM's, and no further."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = _LinkedLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, entry = state["cr"], _Entry()
        context.insert_user_function(entry, lowered.fndesc, [state.library])
        state.reload_init.extend(state.library.reloads)
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class _LinkedCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_LinkedLowering, NativeLowering)
        passes.passes = [p for p in passes.passes if p[0] is not NativeLowering]
        passes.finalize()
        return [passes]


class _Inner(CPUDispatcher):
    """What kernels compile a call of another kernel to. Python never sees it."""

    def __init__(self, function: Callable, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=_LinkedCompiler)

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres  # and nothing to call


class Kernel(CPUDispatcher):
    """A compiled function that other compiled functions know by its leaner twin."""

    _cache: Any

    def __init__(self, function: Callable, options: dict[str, Any]) -> None:
        options = {"nopython": True, "no_cfunc_wrapper": True, **options}
        super().__init__(function, targetoptions=options)
        self._inner = _Inner(function, {**options, "no_cpython_wrapper": True})

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self._inner)
