using Sluice.Server.Database;
using Sluice.Server.History;

namespace Sluice.Server.Queue.Intake;

/// <summary>Why an upload was refused. Apart from size, content is never a reason (SAB-22, SAB-23).</summary>
internal enum AddRefusal
{
    QueueFull,
    DiskFull,

    /// <summary>Larger than an NZB may be, packed or unpacked.</summary>
    TooLarge,

    TooSlow,

    /// <summary>A file of this name exists and must not be replaced.</summary>
    NameTaken,
}

/// <summary>One NZB of an upload, either stored or failed.</summary>
/// <param name="MemberName">Name inside a zip; null if the upload itself is the NZB.</param>
/// <param name="Failure">Why the content could not be stored, or null.</param>
internal sealed record UploadedNzb(StoredBlob? Blob, string? MemberName, ImportFailure? Failure)
{
    /// <summary>Null if nothing was stored.</summary>
    public PostMeasure? Measure { get; init; }
}

/// <summary>A received upload: NZBs safe on disk, or a refusal. Dispose it when the add has ended.</summary>
/// <param name="Lease">Keeps the blobs until rows refer to them; null if there are none.</param>
internal sealed record NzbUpload(IReadOnlyList<UploadedNzb> Nzbs, AddRefusal? Refusal, StoredNzbs.UploadLease? Lease) : IAsyncDisposable
{
    /// <summary>The upload as it came; null if it was not packed or not to be kept.</summary>
    public StoredBlob? Raw { get; init; }

    /// <summary>The bytes of the upload as they came, or null if they are not kept. A plain NZB is its own blob.</summary>
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
