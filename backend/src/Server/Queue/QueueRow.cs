namespace Sluice.Server.Queue;

/// <summary>A row as SQLite gives it: numbers are long, times are Unix milliseconds.</summary>
internal sealed record QueueRow
{
    public required string Id { get; init; }
    public required string Name { get; init; }
    public required string NzbName { get; init; }
    public required string Category { get; init; }
    public required string Folder { get; init; }
    public long Priority { get; init; }
    public long Paused { get; init; }
    public required string Password { get; init; }
    public long PostProcessing { get; init; }
    public required string Script { get; init; }
    public required string NzbHash { get; init; }
    public long NzbLength { get; init; }
    public long EncodedBytes { get; init; }
    public long? PostedAt { get; init; }
    public long AddedAt { get; init; }
    public string Properties { get; init; } = "";
    public long Place { get; init; }

    public static QueueRow From(QueueItem item) => new()
    {
        Id = item.Id,
        Name = item.Name,
        NzbName = item.NzbName,
        Category = item.Category,
        Folder = item.Folder,
        Priority = (long)item.Priority,
        Paused = item.Paused ? 1 : 0,
        Password = item.Password,
        PostProcessing = item.PostProcessing,
        Script = item.Script,
        NzbHash = item.NzbHash,
        NzbLength = item.NzbLength,
        EncodedBytes = item.EncodedBytes,
        PostedAt = item.PostedAt?.ToUnixTimeMilliseconds(),
        AddedAt = item.AddedAt.ToUnixTimeMilliseconds(),
    };

    public QueueItem ToItem() => new()
    {
        Id = Id,
        Name = Name,
        NzbName = NzbName,
        Category = Category,
        Folder = Folder,
        Priority = (QueuePriority)Priority,
        Paused = Paused != 0,
        Password = Password,
        PostProcessing = (int)PostProcessing,
        Script = Script,
        NzbHash = NzbHash,
        NzbLength = NzbLength,
        EncodedBytes = EncodedBytes,
        PostedAt = PostedAt is { } posted ? DateTimeOffset.FromUnixTimeMilliseconds(posted) : null,
        AddedAt = DateTimeOffset.FromUnixTimeMilliseconds(AddedAt),
        Properties = Properties,
        Index = (int)Place,
    };
}
