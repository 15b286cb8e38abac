namespace Sluice.Server.AdminApi;

/// <summary>Everything at and below a folder that holds all words of <c>Q</c>; null for the whole tree and for no words.</summary>
internal sealed record FileSelection(string? Path = null, string? Q = null);

/// <summary>
/// Files to remove: by ids, by paths of files and folders below <c>/content</c>, by a filter, or as the files of history items, which are removed with
/// them. Exactly one is given.
/// </summary>
internal sealed record FileItems(
    IReadOnlyList<string>? Ids = null, IReadOnlyList<string>? Paths = null, FileSelection? Filter = null, HistoryItems? History = null) : IJsonBody<FileItems>;

/// <summary>A client that reads one of the files at this moment.</summary>
internal sealed record RemovalPlaying(string Client, string Player, string Name);

/// <summary>
/// A program and how many of the newest releases it has imported. <c>Failure</c> says why it could not be asked, as a sentence, or is null.
/// </summary>
internal sealed record RemovalProgram(string Name, int Imported, string? Failure);

/// <summary>
/// The content of a removal, or with <c>dryRun</c> of a possible one. <c>Asked</c> is the number of releases that the programs were asked about. <c>Undo</c>
/// restores everything, the files until <c>Until</c>; both are null for a dry run and if nothing was removed.
/// </summary>
internal sealed record FileRemovalState(
    long Files, long Bytes, long Releases, long HistoryItems, IReadOnlyList<RemovalPlaying> Playing, IReadOnlyList<RemovalProgram> Programs, int Asked, string? Undo,
    DateTimeOffset? Until);

/// <summary>
/// A removed release, or a removed part of one. <c>Path</c> is the only file inside the release, or null. <c>Whole</c>: no file of the release is left.
/// <c>Until</c> is the earliest time at which it can be deleted for good.
/// </summary>
internal sealed record QuarantineRow(
    string Id, string Category, string Name, string? Path, bool Whole, long Files, long Bytes, FilmTitle? Film, DateTimeOffset RemovedAt, DateTimeOffset Until);

/// <summary>A page of removed files, newest first.</summary>
internal sealed record QuarantinePage(IReadOnlyList<QuarantineRow> Items, string? Next, long Total);

/// <summary>Removed files to restore, by their ids.</summary>
internal sealed record QuarantineItems(IReadOnlyList<string> Ids) : IJsonBody<QuarantineItems>;
