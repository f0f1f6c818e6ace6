"""optimized_binary: a binary as users run it, whatever the build around it is. For tests that count its work."""

def _optimized_impl(settings, attr):
    return {"//command_line_option:compilation_mode": "opt"}

_optimized = transition(
    implementation = _optimized_impl,
    inputs = [],
    outputs = ["//command_line_option:compilation_mode"],
)

def _optimized_binary_impl(ctx):
    link = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = link, target_file = ctx.executable.binary, is_executable = True)
    return [DefaultInfo(executable = link, runfiles = ctx.runfiles(files = [link, ctx.executable.binary]))]

optimized_binary = rule(
    implementation = _optimized_binary_impl,
    attrs = {
        "binary": attr.label(cfg = _optimized, executable = True, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)
