using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>The passwords that are tried on the archives of an item, in their order (IMP-57).</summary>
internal static class ArchivePasswords
{
    /// <summary>That of the item, which a client gave or its name brought; those that the NZB names; those of the settings.</summary>
    /// <param name="item">The item.</param>
    /// <param name="read">What its NZB told.</param>
    /// <param name="options">The settings.</param>
    public static IReadOnlyList<string> Of(QueueItem item, ReadPost read, ImportOptions options) =>
    [
        .. read.Passwords.Prepend(item.Password).Concat(options.ArchivePasswords)
            .Where(password => password.Length > 0)
            .Distinct(StringComparer.Ordinal),
    ];
}
