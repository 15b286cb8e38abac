namespace Sluice.Server.Queue;

/// <summary>A file that a client has written under a passing name.</summary>
/// <param name="Id">Names these bytes and no others: 32 hex digits.</param>
/// <param name="Folder">Its folder below <c>/nzbs</c>.</param>
/// <param name="Name">The passing name.</param>
/// <param name="Start">Where its bytes begin in the file on disk.</param>
/// <param name="Length">How many there are.</param>
/// <param name="Since">When it was whole.</param>
internal sealed record StagedUpload(string Id, string Folder, string Name, int Start, long Length, DateTimeOffset Since);
