namespace Sluice.Server.Database;

/// <summary>Somebody whose rows refer to blobs. The sweep at start asks all of them before it removes anything.</summary>
internal interface IBlobReferences
{
    /// <summary>The hashes of the NZBs that are still needed; their message-id lists are needed too.</summary>
    Task<IReadOnlyCollection<string>> GetBlobHashesAsync(CancellationToken cancellationToken);
}
