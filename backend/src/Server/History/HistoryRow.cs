using System.Text.Json;

namespace Sluice.Server.History;

/// <summary>A row as SQLite gives it: numbers are long, times are Unix milliseconds, steps are JSON.</summary>
internal sealed record HistoryRow
{
    public required string Id { get; init; }
    public required string Name { get; init; }
    public required string NzbName { get; init; }
    public required string Category { get; init; }
    public required string Folder { get; init; }
    public long Priority { get; init; }
    public required string Password { get; init; }
    public long PostProcessing { get; init; }
    public required string Script { get; init; }
    public string? NzbHash { get; init; }
    public long EncodedBytes { get; init; }
    public long Bytes { get; init; }
    public long? ReleaseId { get; init; }
    public string? Reason { get; init; }
    public required string FailMessage { get; init; }
    public long AddedAt { get; init; }
    public long StartedAt { get; init; }
    public long CompletedAt { get; init; }
    public required string Steps { get; init; }

    public static HistoryRow From(HistoryItem item) => new()
    {
        Id = item.Id,
        Name = item.Name,
        NzbName = item.NzbName,
        Category = item.Category,
        Folder = item.Folder,
        Priority = item.Priority,
        Password = item.Password,
        PostProcessing = item.PostProcessing,
        Script = item.Script,
        NzbHash = item.NzbHash,
        EncodedBytes = item.EncodedBytes,
        Bytes = item.Bytes,
        ReleaseId = item.ReleaseId,
        Reason = item.Reason,
        FailMessage = item.FailMessage,
        AddedAt = item.AddedAt.ToUnixTimeMilliseconds(),
        StartedAt = item.StartedAt.ToUnixTimeMilliseconds(),
        CompletedAt = item.CompletedAt.ToUnixTimeMilliseconds(),
        Steps = JsonSerializer.Serialize(item.Steps),
    };

    public HistoryItem ToItem() => new()
    {
        Id = Id,
        Name = Name,
        NzbName = NzbName,
        Category = Category,
        Folder = Folder,
        Priority = (int)Priority,
        Password = Password,
        PostProcessing = (int)PostProcessing,
        Script = Script,
        NzbHash = NzbHash,
        EncodedBytes = EncodedBytes,
        Bytes = Bytes,
        ReleaseId = ReleaseId,
        Reason = Reason,
        FailMessage = FailMessage,
        AddedAt = DateTimeOffset.FromUnixTimeMilliseconds(AddedAt),
        StartedAt = DateTimeOffset.FromUnixTimeMilliseconds(StartedAt),
        CompletedAt = DateTimeOffset.FromUnixTimeMilliseconds(CompletedAt),
        Steps = JsonSerializer.Deserialize<List<StepTiming>>(Steps) ?? [],
    };
}
