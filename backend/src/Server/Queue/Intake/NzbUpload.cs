using Sluice.Server.Database;
using Sluice.Server.History;

namespace Sluice.Server.Queue.Intake;

/// <summary>Why nothing was added. None is about the content but its size (SAB-22, SAB-23).</summary>
internal enum AddRefusal
{
    /// <summary>As many items are queued as the settings allow.</summary>
    QueueFull,

    /// <summary>Too little room on the disk of the data folder.</summary>
    DiskFull,

    /// <summary>More bytes than an NZB may have, packed or plain.</summary>
    TooLarge,

    /// <summary>The upload did not end in time.</summary>
    TooSlow,

    /// <summary>A file of its name is there, and may not be replaced.</summary>
    NameTaken,
}

/// <summary>One NZB of an upload: stored, or with the reason why its content is none.</summary>
/// <param name="Blob">The stored NZB, or null.</param>
/// <param name="MemberName">Its name inside a zip, or null when it was the upload itself.</param>
/// <param name="Failure">Why nothing could be stored; null when it was.</param>
internal sealed record UploadedNzb(StoredBlob? Blob, string? MemberName, ImportFailure? Failure)
{
    /// <summary>What it says about its post; null if nothing was stored.</summary>
    public PostMeasure? Measure { get; init; }
}

/// <summary>A received upload: its NZBs, safe on disk, or a refusal. Disposed when the add has ended, with or without success.</summary>
/// <param name="Nzbs">At least one, unless refused.</param>
/// <param name="Refusal">Why nothing was kept, or null.</param>
/// <param name="Lease">Keeps the blobs while no row refers to them; null where none came.</param>
internal sealed record NzbUpload(IReadOnlyList<UploadedNzb> Nzbs, AddRefusal? Refusal, StoredNzbs.UploadLease? Lease) : IAsyncDisposable
{
    /// <summary>A packed upload as it came, where that was asked for; else null.</summary>
    public StoredBlob? Raw { get; init; }

    /// <summary>The bytes as they came, as far as they are kept: those of a plain NZB are its own.</summary>
    public StoredBlob? AsItCame => Raw ?? (Nzbs.Count == 1 ? Nzbs[0].Blob : null);

    /// <summary>Nothing is kept.</summary>
    public static NzbUpload Refused(AddRefusal refusal, StoredNzbs.UploadLease? lease = null) => new([], refusal, lease);

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => Lease?.DisposeAsync() ?? ValueTask.CompletedTask;
}

/// <summary>Outcome of an add.</summary>
/// <param name="Ids">One id per NZB, in order; empty when refused.</param>
/// <param name="Replaced">Whether an item of the same name made room.</param>
/// <param name="Refusal">Why nothing was added, or null.</param>
internal sealed record AddOutcome(IReadOnlyList<string> Ids, bool Replaced, AddRefusal? Refusal)
{
    /// <summary>Nothing was added.</summary>
    public static AddOutcome Refused(AddRefusal refusal) => new([], false, refusal);
}
