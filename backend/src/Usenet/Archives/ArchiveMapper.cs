using Sluice.Usenet.Nntp;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Usenet.Archives;

/// <summary>How a release is mapped.</summary>
/// <remarks>Immutable.</remarks>
public sealed record MappingOptions
{
    /// <summary>Whether the middle volumes of a set are predicted where that is safe, instead of read (IMP-52).</summary>
    public bool PredictsVolumes { get; init; } = true;

    /// <inheritdoc cref="ProbeOptions.Garbled"/>
    public Action<object>? Garbled { get; init; }

    /// <summary>Archives in archives are followed this deep (IMP-55).</summary>
    public int MaxDepth { get; init; } = 3;

    /// <summary>Sets, and volumes of one set, whose headers are read at once.</summary>
    public int Concurrency { get; init; } = 16;
}

/// <summary>
/// Finds the files that a release brings, and where in the posted files their bytes lie: groups volumes, reads their headers, follows
/// archives in archives and puts all places together.
/// </summary>
/// <remarks>Thread-safe; fetches in lane Import. What cannot be streamed is part of the outcome and no exception.</remarks>
/// <param name="source">Where heads come from that the probe has left out; not owned.</param>
/// <param name="engine">Reads headers that lie behind the first bytes; not owned.</param>
/// <param name="options">Null for the defaults.</param>
public sealed class ArchiveMapper(IArticleSource source, StreamEngine engine, MappingOptions? options = null)
{
    /// <summary>Maps a release.</summary>
    /// <param name="heads">What the probe of the release has found, all of it: volumes that were left out are needed as well.</param>
    /// <param name="claims">What the PAR2 indexes say, one for each head; empty where there are none.</param>
    /// <param name="keys">The passwords of the release.</param>
    /// <param name="progress">Receives the part of the sets that is done, 0 to 1; null when the caller needs no progress.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="NntpException">No provider could be asked to the end; it says nothing and can be repeated.</exception>
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
