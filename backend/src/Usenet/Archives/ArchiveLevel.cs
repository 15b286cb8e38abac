using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>A file found in a source. <c>Path</c> is null for candidates and joined candidates; extents refer to candidates.</summary>
internal sealed record FoundFile(string? Path, int NamedBy, long Length, IReadOnlyList<ArchiveExtent> Extents)
{
    public bool IsJoined { get; init; }

    public StreamCipher? Cipher { get; init; }

    public MediaKind Kind { get; init; }

    public string? Method { get; init; }

    public uint? Crc32 { get; init; }
}

/// <summary>The files found among the candidates of one source and in nested archives.</summary>
internal sealed class Findings
{
    public List<FoundFile> Files { get; } = [];

    public List<RefusedSet> Refused { get; } = [];

    /// <summary>Predicted volumes, one list for each set.</summary>
    public List<IReadOnlyList<PredictedVolume>> Predicted { get; } = [];

    public List<string> Notes { get; } = [];

    public void Add(Findings other)
    {
        Files.AddRange(other.Files);
        Refused.AddRange(other.Refused);
        Predicted.AddRange(other.Predicted);
        Notes.AddRange(other.Notes);
    }
}

/// <summary>Inspects all candidates of one source and, recursively, the entries of the archives among them.</summary>
internal sealed class ArchiveLevel(IVolumeSource source, ArchiveKeys keys, ArchiveBudget budget, MappingOptions options, int depth)
{
    // Only the largest entries are sniffed, to limit reads; the others are classified by name.
    private const int MaxKinds = 256;

    /// <summary>Inspects all candidates. Reports the fraction of finished groups to <paramref name="done"/>, if given, after each group.</summary>
    public async Task<Findings> FindAsync(IProgress<double>? done, CancellationToken cancellationToken)
    {
        var groups = VolumeGrouper.Group(source.Candidates);
        var found = new Findings[groups.Count];
        var finished = 0;
        await Parallel.ForEachAsync(
            Enumerable.Range(0, groups.Count),
            new ParallelOptions { MaxDegreeOfParallelism = options.Concurrency, CancellationToken = cancellationToken },
            async (index, token) =>
            {
                found[index] = await FindInAsync(groups[index], token);
                done?.Report((double)Interlocked.Increment(ref finished) / groups.Count);
            });

        var all = new Findings();
        foreach (var findings in found)
            all.Add(findings);
        return all;
    }

    private async Task<Findings> FindInAsync(VolumeGroup group, CancellationToken cancellationToken)
    {
        if (group.Kind == VolumeGroupKind.Plain)
            return await FindPlainAsync(group.Members, cancellationToken);
        if (depth >= options.MaxDepth)
        {
            var deep = new ArchiveException(ArchiveFault.Unsupported, "archives lie in it too deep");
            return Refuse(new FailedSet(group.Members, FormatOf(group.Members[0]), deep));
        }

        return group.Kind switch
        {
            VolumeGroupKind.Rar => await FindInRarAsync(group, cancellationToken),
            VolumeGroupKind.Joined => await FindInJoinedAsync(group, cancellationToken),
            _ => await FindUnnamedAsync(group, cancellationToken),
        };
    }

    private async Task<Findings> FindPlainAsync(IReadOnlyList<int> members, CancellationToken cancellationToken)
    {
        var findings = new Findings();
        var open = members.Where(index => source.Candidates[index] is { IsReadable: true }).ToList();
        await source.MeasureAsync(open, cancellationToken);
        foreach (var index in open)
        {
            try
            {
                var length = source.Open(index).Length;
                findings.Files.Add(new FoundFile(null, index, length, [new ArchiveExtent(index, 0, length)]) { Kind = source.Candidates[index].Kind });
            }
            catch (ArchiveException)
            {
                // Skipped, because the location of its bytes is unknown. The probe has reported the reason.
                findings.Notes.Add($"{source.Candidates[index].Name}: cannot be measured");
            }
        }

        return findings;
    }

    private async Task<Findings> FindUnnamedAsync(VolumeGroup group, CancellationToken cancellationToken)
    {
        var reader = new JoinedGroupReader(source, keys, budget, options);
        var findings = new Findings();
        IReadOnlyList<VolumeGroup> sets;
        try
        {
            sets = await reader.FindPiecesAsync(group, cancellationToken);
        }
        catch (ArchiveException failure)
        {
            return Refuse(new FailedSet(group.Members, ArchiveFormat.SevenZip, failure));
        }

        foreach (var set in sets)
            findings.Add(await FindInJoinedAsync(set, cancellationToken));

        // Unclaimed files are published on their own, unless an archive lacks pieces: then these files may be the missing pieces.
        var rest = group.Members.Except(sets.SelectMany(set => set.Members)).ToList();
        if (findings.Refused.Count == 0)
            findings.Add(await FindPlainAsync(rest, cancellationToken));
        return findings;
    }

    private async Task<Findings> FindInRarAsync(VolumeGroup group, CancellationToken cancellationToken)
    {
        var result = await new RarGroupReader(source, keys, budget, options).ReadAsync(group, cancellationToken);
        var findings = new Findings();
        foreach (var set in result.Read)
        {
            if (set.Predicted.Count > 0)
                findings.Predicted.Add(set.Predicted);
            findings.Add(await ReadEntriesAsync(set.Volumes, set.Map, cancellationToken));
        }

        foreach (var failed in result.Failed)
            findings.Add(Refuse(failed));
        return findings;
    }

    private async Task<Findings> FindInJoinedAsync(VolumeGroup group, CancellationToken cancellationToken)
    {
        JoinedSet set;
        try
        {
            set = await new JoinedGroupReader(source, keys, budget, options).ReadAsync(group, cancellationToken);
        }
        catch (ArchiveException failure)
        {
            return Refuse(new FailedSet(group.Members, FormatOf(group.Members[0]), failure));
        }

        var pieces = SplitSet.OfVolumes(set.Volumes.Select(index => source.Open(index).Length));
        var findings = new Findings();
        if (set.Predicted.Count > 0)
            findings.Predicted.Add(set.Predicted);
        if (set.Map is not null)
        {
            var entries = set.Map.Entries.Select(entry => entry with { Extents = [.. entry.Extents.SelectMany(extent => Slice(extent.Offset, extent.Length))] });
            findings.Add(await ReadEntriesAsync(set.Volumes, set.Map with { Entries = [.. entries] }, cancellationToken));
            return findings;
        }

        // Joined pieces are inspected again, because film.rar.001 is itself an archive.
        var path = source.Candidates[set.Volumes[0]].Volume?.Stem ?? source.Candidates[set.Volumes[0]].Name ?? "";
        var whole = new ArchiveEntry { Path = path, Length = set.Whole.Length, Extents = Slice(0, set.Whole.Length) };
        var joined = new EntryVolumes([whole], [set.Kind], source);
        if (set.Volumes.Count > 1 && MediaSignature.CategoryOf(set.Kind) == MediaCategory.Archive)
            findings.Add(ToOuterVolumes([whole], set.Volumes[0], await new ArchiveLevel(joined, keys, budget, options, depth).FindAsync((IProgress<double>?)null, cancellationToken)));
        else
            findings.Files.Add(new FoundFile(null, set.Volumes[0], whole.Length, whole.Extents) { Kind = set.Kind, IsJoined = set.Volumes.Count > 1 });
        return findings;

        IReadOnlyList<ArchiveExtent> Slice(long offset, long length) =>
            [.. pieces.Slice(offset, length).Select(extent => extent with { Volume = set.Volumes[extent.Volume] })];
    }

    /// <summary>Returns the files of an archive and of archives nested in it.</summary>
    private async Task<Findings> ReadEntriesAsync(IReadOnlyList<int> volumes, ArchiveMap map, CancellationToken cancellationToken)
    {
        var findings = new Findings();
        findings.Notes.AddRange(map.Notes);
        findings.Files.AddRange(map.Entries.Where(entry => entry.Method is not null).Select(entry => Found(entry, MediaKind.Unknown)));
        List<ArchiveEntry> stored;
        MediaKind[] kinds;
        try
        {
            stored = [.. await DecideAsync([.. map.Entries.Where(entry => entry.Method is null)], cancellationToken)];
            kinds = await KindsOfAsync(stored, findings, cancellationToken);
        }
        catch (ArchiveException failure)
        {
            return Refuse(new FailedSet(volumes, map.Format, failure));
        }

        var inner = new EntryVolumes(stored, kinds, source);
        if (inner.HoldArchives)
            findings.Add(ToOuterVolumes(stored, volumes[0], await new ArchiveLevel(inner, keys, budget, options, depth + 1).FindAsync((IProgress<double>?)null, cancellationToken)));
        else
            findings.Files.AddRange(stored.Select((entry, i) => Found(entry, kinds[i])));
        return findings;

        FoundFile Found(ArchiveEntry entry, MediaKind kind) => new(entry.Path, volumes[0], entry.Length, entry.Extents)
        {
            Cipher = entry.Cipher,
            Kind = kind,
            Method = entry.Method,
            Crc32 = entry.Crc32,
        };
    }

    /// <summary>Chooses the ciphers of entries in an archive without a password check.</summary>
    private async Task<IReadOnlyList<ArchiveEntry>> DecideAsync(IReadOnlyList<ArchiveEntry> entries, CancellationToken cancellationToken)
    {
        var undecided = entries.Where(entry => entry.Candidates.Count > 0).OrderByDescending(entry => entry.Length).ToList();
        if (undecided.Count == 0)
            return entries;

        // One search is enough, because one password opens every entry of an archive.
        var password = await keys.SearchAsync(FindAsync, cancellationToken);
        return [.. entries.Select(one => one.Candidates.Count == 0 ? one : one with { Cipher = one.Candidates.Of(password), Candidates = CipherCandidates.None })];

        async Task<string> FindAsync()
        {
            foreach (var entry in undecided)
            {
                if (await CipherChoice.FindAsync(entry.Path, entry.Length, entry.Extents, entry.Candidates, entry.Crc32, source, cancellationToken) is not { } found)
                    continue;
                keys.Prefer(found);
                return found;
            }

            throw CipherChoice.UncheckablePassword();
        }
    }

    private async Task<MediaKind[]> KindsOfAsync(List<ArchiveEntry> entries, Findings findings, CancellationToken cancellationToken)
    {
        var kinds = new MediaKind[entries.Count];
        var looked = Enumerable.Range(0, entries.Count).OrderByDescending(index => entries[index].Length).Take(MaxKinds);
        await Parallel.ForEachAsync(
            looked,
            new ParallelOptions { MaxDegreeOfParallelism = options.Concurrency, CancellationToken = cancellationToken },
            async (index, token) =>
            {
                var start = new byte[Math.Min(MediaSignature.SufficientLength, entries[index].Length)];
                try
                {
                    await EntryVolumes.Open(entries[index], source).ReadAsync(0, start, token);
                    kinds[index] = MediaSignature.Recognise(start);
                }
                catch (ArticleGoneException)
                {
                    lock (findings)
                        findings.Notes.Add($"{entries[index].Path}: its beginning is gone");
                }
            });
        return kinds;
    }

    /// <summary>Translates findings inside entries to extents of the surrounding volumes.</summary>
    private static Findings ToOuterVolumes(List<ArchiveEntry> entries, int namedBy, Findings inside)
    {
        var outside = new Findings();
        outside.Notes.AddRange(inside.Notes);
        outside.Refused.AddRange(inside.Refused);
        foreach (var file in inside.Files)
        {
            if (Unwrapped.Of(entries, file) is not { } place)
            {
                outside.Refused.Add(new RefusedSet(ArchiveFault.Unsupported, ArchiveFormat.Split, entries[file.NamedBy].Path, "what is encrypted in it is in several pieces", 1, 1, file.Length));
                continue;
            }

            // A file that fills a whole entry takes the entry's path. Joined pieces take the path without the piece number.
            var entry = entries[file.NamedBy];
            var path = file.Path ?? (file.IsJoined ? VolumeName.Parse(entry.Path)?.Stem : null) ?? entry.Path;
            outside.Files.Add(file with
            {
                Path = path,
                NamedBy = namedBy,
                Extents = place.Extents,
                Cipher = place.Cipher,
                IsJoined = false,
                Crc32 = file.Crc32 ?? (file.Path is null && !file.IsJoined ? entry.Crc32 : null),
            });
        }

        return outside;
    }

    private Findings Refuse(FailedSet failed)
    {
        var findings = new Findings();
        var have = failed.Volumes.Count;
        findings.Refused.Add(new RefusedSet(
            failed.Failure.Fault,
            failed.Format,
            source.Candidates[failed.Volumes[0]].Name ?? "",
            failed.Failure.Detail,
            have,
            Math.Max(failed.Failure.Volumes ?? 0, have + (failed.Failure.Fault == ArchiveFault.Incomplete ? 1 : 0)),
            failed.Volumes.Sum(index => source.Candidates[index].Bytes)));
        return findings;
    }

    private ArchiveFormat FormatOf(int index) => source.Candidates[index].Kind switch
    {
        MediaKind.Rar4 => ArchiveFormat.Rar4,
        MediaKind.Rar5 => ArchiveFormat.Rar5,
        MediaKind.SevenZip => ArchiveFormat.SevenZip,
        MediaKind.Zip => ArchiveFormat.Zip,
        MediaKind.Tar or MediaKind.Gzip => ArchiveFormat.Tar,
        _ => source.Candidates[index].Volume?.Format switch
        {
            VolumeFormat.Rar => ArchiveFormat.Rar5,
            VolumeFormat.SevenZip => ArchiveFormat.SevenZip,
            VolumeFormat.Zip => ArchiveFormat.Zip,
            _ => ArchiveFormat.Split,
        },
    };
}

/// <summary>A file found inside entries, located in the volumes around these entries. Pure.</summary>
internal readonly record struct Unwrapped(IReadOnlyList<ArchiveExtent> Extents, StreamCipher? Cipher)
{
    /// <summary>Translates the extents of a file to the surrounding volumes.</summary>
    /// <returns>Null if the file needs more than one cipher, or consists of several pieces of encrypted data.</returns>
    public static Unwrapped? Of(IReadOnlyList<ArchiveEntry> entries, FoundFile file)
    {
        if (!file.Extents.Any(extent => entries[extent.Volume].Cipher is not null))
            return new Unwrapped([.. file.Extents.SelectMany(extent => new SplitSet(entries[extent.Volume].Extents).Slice(extent.Offset, extent.Length))], file.Cipher);
        if (file.Cipher is not null || file.Extents is not [var only] || entries[only.Volume] is not { Cipher: { } cipher } entry)
            return null;

        // CBC needs the cipher block before the range, so the extent starts one block earlier and Skip covers it.
        const int Block = StreamCipher.BlockLength;
        var begin = only.Offset + cipher.Skip;
        var from = Math.Max(0, begin / Block * Block - Block);
        var to = StreamCipher.Padded(begin + only.Length);
        return new Unwrapped(new SplitSet(entry.Extents).Slice(from, to - from), cipher with { Skip = (int)(begin - from) });
    }
}

/// <summary>Offers the stored entries of an archive as candidates for nested archives (IMP-55). Their ciphers must be known.</summary>
internal sealed class EntryVolumes(IReadOnlyList<ArchiveEntry> entries, IReadOnlyList<MediaKind> kinds, IVolumeSource around) : IVolumeSource
{
    public IReadOnlyList<VolumeCandidate> Candidates { get; } =
    [
        .. entries.Select((entry, index) => new VolumeCandidate(index, entry.Path, VolumeName.Parse(entry.Path), kinds[index]) { Length = entry.Length, Bytes = entry.Length }),
    ];

    public bool HoldArchives => Candidates.Any(candidate => !NameJudge.IsPlain(candidate.Name)
        && (candidate.Volume is not null || MediaSignature.CategoryOf(candidate.Kind) == MediaCategory.Archive));

    public Task ContinueAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken) => Task.CompletedTask;

    public Task MeasureAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken) => Task.CompletedTask;

    public long? Predict(int index, int like, long? length) => null;

    public bool HasKnownLength(int index) => false;

    public IArchiveInput Open(int index) => Open(entries[index], around);

    public static IArchiveInput Open(ArchiveEntry entry, IVolumeSource around) =>
        new EntryInput(entry, new SourceInputs(around), static (text, cipher, length) => new CipherInput(text, cipher, length));
}
