using Sluice.Server.Database;
using Sluice.Server.History;

namespace Sluice.Server.Queue.Intake;

/// <summary>Why an upload was refused. An invalid NZB of allowed size is accepted and fails in the history (SAB-22, SAB-23).</summary>
internal enum AddRefusal
{
    QueueFull,
    DiskFull,

    /// <summary>Larger than the limit of an NZB, compressed or decompressed.</summary>
    TooLarge,

    TooSlow,

    /// <summary>A file of this name exists, and the client did not allow replacing it.</summary>
    NameTaken,
}

/// <summary>One NZB of an upload, either stored or failed.</summary>
/// <param name="MemberName">Name in the zip; null if the upload is not a zip.</param>
/// <param name="Failure">Why it could not be stored, or null.</param>
internal sealed record UploadedNzb(StoredBlob? Blob, string? MemberName, ImportFailure? Failure)
{
    /// <summary>Size and age; null if nothing was stored.</summary>
    public PostMeasure? Measure { get; init; }
}

/// <summary>A received upload: durably stored NZBs, or a refusal. Dispose it after the add.</summary>
/// <param name="Lease">Protects the blobs until rows refer to them; null if there are no blobs.</param>
internal sealed record NzbUpload(IReadOnlyList<UploadedNzb> Nzbs, AddRefusal? Refusal, StoredNzbs.UploadLease? Lease) : IAsyncDisposable
{
    /// <summary>The upload as received; null if it was not packed or should not be kept.</summary>
    public StoredBlob? Raw { get; init; }

    /// <summary>The upload as received, or null if not kept. A plain NZB is its own original.</summary>
    public StoredBlob? Original => Raw ?? (Nzbs.Count == 1 ? Nzbs[0].Blob : null);

    public static NzbUpload Refused(AddRefusal refusal, StoredNzbs.UploadLease? lease = null) => new([], refusal, lease);

    public ValueTask DisposeAsync() => Lease?.DisposeAsync() ?? ValueTask.CompletedTask;
}

/// <param name="Ids">One id per NZB, in order; empty if refused.</param>
/// <param name="Replaced">Whether an item of the same name was replaced.</param>
internal sealed record AddOutcome(IReadOnlyList<string> Ids, bool Replaced, AddRefusal? Refusal)
{
    public static AddOutcome Refused(AddRefusal refusal) => new([], false, refusal);
}
