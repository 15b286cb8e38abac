using System.Reflection;

namespace Sluice.Server.Diagnostics;

/// <summary>Version and commit of this build.</summary>
internal static class BuildInfo
{
    public static string Version { get; } = typeof(BuildInfo).Assembly.GetName().Version?.ToString(3) ?? "";

    /// <summary>The commit from which this was built; null if unknown.</summary>
    public static string? Commit { get; } =
        typeof(BuildInfo).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion is { } version
        && version.IndexOf('+', StringComparison.Ordinal) is >= 0 and var plus
            ? version[(plus + 1)..]
            : null;
}
