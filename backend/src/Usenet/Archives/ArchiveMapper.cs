using Sluice.Usenet.Nntp;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Usenet.Archives;

/// <summary>Settings of <see cref="ArchiveMapper"/>. Immutable.</summary>
public sealed record MappingOptions
{
    /// <summary>Whether the middle volumes of a set are predicted instead of read, where safe (IMP-52).</summary>
    public bool PredictsVolumes { get; init; } = true;

    /// <inheritdoc cref="ProbeOptions.Garbled"/>
    public Action<object>? Garbled { get; init; }

    /// <summary>Maximum nesting of archives (IMP-55).</summary>
    public int MaxDepth { get; init; } = 3;

    /// <summary>Number of sets, and of volumes within a set, whose headers are read in parallel.</summary>
    public int Concurrency { get; init; } = 16;
}

/// <summary>Maps each file of a release to byte ranges of the posted files: groups volumes, reads headers and unwraps nested archives.</summary>
/// <remarks>Thread-safe; fetches in lane Import. Archives that cannot be streamed are part of the result, not an exception.</remarks>
/// <param name="source">Provides the heads that the probe skipped; not owned.</param>
/// <param name="engine">Reads headers beyond the first bytes; not owned.</param>
/// <param name="options">Null for the defaults.</param>
public sealed class ArchiveMapper(IArticleSource source, StreamEngine engine, MappingOptions? options = null)
{
    /// <param name="heads">All results of the probe, including skipped files, because their volumes are needed as well.</param>
    /// <param name="claims">The PAR2 claims, one for each head; empty if there is no index.</param>
    /// <param name="progress">Receives the fraction of finished sets, 0 to 1; may be null.</param>
    /// <exception cref="NntpException">No provider gave a final answer; the caller may retry.</exception>
    /// <exception cref="IOException">The stored message-ids are lost or damaged.</exception>
    public async Task<ReleaseMap> MapAsync(
        IReadOnlyList<FileHead> heads, IReadOnlyList<Par2Claim> claims, ArchiveKeys keys, IProgress<double>? progress, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(heads);
        ArgumentNullException.ThrowIfNull(claims);
        ArgumentNullException.ThrowIfNull(keys);

        var settings = options ?? new MappingOptions();
        using var release = new PostedRelease(new ReleaseProber(source, new ProbeOptions { Garbled = settings.Garbled }), engine, heads, claims, settings.Concurrency);
        var found = await new ArchiveLevel(release, keys, new ArchiveBudget(heads.Count), settings, depth: 0).FindAsync(progress, cancellationToken);
        List<MappedFile> files = [.. found.Files.Select(Describe)];
        var used = files.SelectMany(file => file.Extents).Select(extent => extent.Posted).ToHashSet();
        var predicted = found.Predicted.Where(set => set.Any(volume => used.Contains(volume.Posted)))
            .SelectMany((set, number) => set.Select(volume => volume with { Set = number })).ToList();
        used.UnionWith(predicted.Select(volume => volume.Posted));
        return new ReleaseMap(files, [.. release.Maps.Select((map, posted) => used.Contains(posted) ? map : null)], found.Refused, predicted, found.Notes);
    }

    private static MappedFile Describe(FoundFile file) => new()
    {
        InnerPath = file.Path,
        NamedBy = file.NamedBy,
        IsJoined = file.IsJoined,
        Length = file.Length,
        Extents = [.. file.Extents.Select(extent => new PostedExtent(extent.Volume, extent.Offset, extent.Length))],
        Cipher = file.Cipher,
        Kind = file.Kind,
        Method = file.Method,
        Crc32 = file.Crc32,
    };
}
