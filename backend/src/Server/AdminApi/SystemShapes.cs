namespace Sluice.Server.AdminApi;

/// <summary>A self-check, such as "Database", and its result.</summary>
internal sealed record SelfCheck(string Name, bool Ok, string Sentence);

/// <summary>A version in the update feed that is newer than this build. <c>Notes</c> is one line of text, or empty.</summary>
internal sealed record NewerVersion(string Version, string Notes);

/// <summary>
/// The server itself. <c>Form</c> is <c>ordinary</c>, or <c>native</c> with its instruction set level; <c>Mode</c> is <c>normal</c> or <c>safe</c>.
/// <c>BudgetBytes</c> is how much memory articles may use. Commit and free bytes are null if unknown. <c>Newer</c> is null unless the
/// update feed has a newer version.
/// </summary>
internal sealed record SystemState(
    string Version, string? Commit, string Form, DateTimeOffset StartedAt, string Mode, long ResidentBytes, long BudgetBytes, long? FreeBytes,
    int PlaybackPermits, int ImportPermits, IReadOnlyList<SelfCheck> Checks, NewerVersion? Newer);

/// <summary>
/// Values that other programs need to reach this server. <c>Address</c> is the address in the browser, <c>ComposeAddress</c> the one between containers of the
/// same compose file. <c>WebDavUser</c> is empty if the tree is open to every client. <c>SabKey</c> is null for callers with read-only access. <c>MountDir</c>
/// is empty if no mount is set. <c>StrmFolder</c> is the folder of <c>.strm</c> files that programs import; null if they import links. <c>OldRclone</c> is the
/// version of the rclone that last read the tree if it is too old for links, empty if it states no version, and null if it is new enough.
/// </summary>
internal sealed record AccessCard(
    string Address, string UrlBase, bool IsLoopback, IReadOnlyList<string> LanAddresses, string ComposeAddress, int Port, string WebDavUser, string? SabKey,
    string MountDir, string? StrmFolder, IReadOnlyList<string> Categories, string? OldRclone);
