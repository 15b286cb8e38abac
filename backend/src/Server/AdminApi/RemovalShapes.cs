namespace Sluice.Server.AdminApi;

/// <summary>Everything at or below a folder that contains all words in <c>Q</c>. Null means the whole tree, or no words.</summary>
internal sealed record FileSelection(string? Path = null, string? Q = null);

/// <summary>
/// Files to remove: by id, by paths of files and folders below <c>/content</c>, by a filter, or as the files of history items, which are removed too. Exactly
/// one of these is given.
/// </summary>
internal sealed record FileItems(
    IReadOnlyList<string>? Ids = null, IReadOnlyList<string>? Paths = null, FileSelection? Filter = null, HistoryItems? History = null) : IJsonBody<FileItems>;

/// <summary>A client that is currently reading one of the files.</summary>
internal sealed record RemovalPlaying(string Client, string Player, string Name);

/// <summary>
/// A program, and how many of the newest releases it has imported. <c>Failure</c> says, as a sentence, why the program could not be asked; otherwise null.
/// </summary>
internal sealed record RemovalProgram(string Name, int Imported, string? Failure);

/// <summary>
/// What a removal contains or, with <c>dryRun</c>, would contain. <c>Asked</c> is the number of releases that the programs were asked about. <c>Undo</c>
/// restores everything, and the files until <c>Until</c>; both are null for a dry run and if nothing was removed.
/// </summary>
internal sealed record FileRemovalState(
    long Files, long Bytes, long Releases, long HistoryItems, IReadOnlyList<RemovalPlaying> Playing, IReadOnlyList<RemovalProgram> Programs, int Asked, string? Undo,
    DateTimeOffset? Until);

/// <summary>
/// A removed release, or part of one. <c>Path</c> is the path inside the release if only one file was removed, or null. <c>Whole</c>: no file of the release is
/// left. <c>Until</c> is the earliest time at which it can be deleted permanently.
/// </summary>
internal sealed record QuarantineRow(
    string Id, string Category, string Name, string? Path, bool Whole, long Files, long Bytes, FilmTitle? Film, DateTimeOffset RemovedAt, DateTimeOffset Until);

/// <summary>A page of removed files, newest first.</summary>
internal sealed record QuarantinePage(IReadOnlyList<QuarantineRow> Items, string? Next, long Total);

/// <summary>Removed files to restore, by id.</summary>
internal sealed record QuarantineItems(IReadOnlyList<string> Ids) : IJsonBody<QuarantineItems>;
