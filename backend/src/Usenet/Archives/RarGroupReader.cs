using Sluice.Usenet.Streams;

namespace Sluice.Usenet.Archives;

/// <summary>A successfully read archive. Volumes and extents refer to the source.</summary>
internal sealed record ReadSet(IReadOnlyList<int> Volumes, ArchiveMap Map, IReadOnlyList<PredictedVolume> Predicted);

/// <summary>A set that cannot be streamed. Volumes refer to the source.</summary>
internal sealed record FailedSet(IReadOnlyList<int> Volumes, ArchiveFormat Format, ArchiveException Failure);

internal sealed record ReadGroup(IReadOnlyList<ReadSet> Read, IReadOnlyList<FailedSet> Failed);

/// <summary>Reads the RAR archives in a group of volumes: from the first, second and last volume if these suffice, otherwise from all volumes.</summary>
internal sealed class RarGroupReader(IVolumeSource source, ArchiveKeys keys, ArchiveBudget budget, MappingOptions options)
{
    // First, second and last volume, and one to predict.
    private const int MinVolumesToPredict = 4;

    private readonly RarPasswords _passwords = new(keys);

    public async Task<ReadGroup> ReadAsync(VolumeGroup group, CancellationToken cancellationToken)
    {
        if (options.PredictsVolumes && group.IsNamed && group.Missing == 0 && group.Members.Count >= MinVolumesToPredict
            && await TryPredictAsync(group.Members, cancellationToken) is { } predicted)
        {
            return predicted;
        }

        await source.ContinueAsync(group.Members, cancellationToken);
        var volumes = new RarVolume?[group.Members.Count];
        var failures = new ArchiveException?[group.Members.Count];

        // The first volume determines the password for the others. RAR 4 volumes without names are read to the end, because their number is stored there.
        await ReadOneAsync(0, cancellationToken);
        if (failures[0] is { Fault: ArchiveFault.NoPassword or ArchiveFault.WrongPassword } locked)
            return new ReadGroup([], [new FailedSet(group.Members, FormatOf(group.Members[0]), locked)]);
        await Parallel.ForEachAsync(
            Enumerable.Range(1, volumes.Length - 1),
            new ParallelOptions { MaxDegreeOfParallelism = options.Concurrency, CancellationToken = cancellationToken },
            async (place, token) => await ReadOneAsync(place, token));
        return await JoinAsync(group, volumes, failures, cancellationToken);

        async Task ReadOneAsync(int place, CancellationToken token)
        {
            try
            {
                volumes[place] = await ReadVolumeAsync(group.Members[place], endsCount: !group.IsNamed, token);
            }
            catch (ArchiveException failure)
            {
                failures[place] = failure;
            }
        }
    }

    /// <summary>Reads the first, second and last volume and predicts the others (IMP-52).</summary>
    /// <returns>Null if these volumes do not suffice or do not match, so that all volumes must be read.</returns>
    private async Task<ReadGroup?> TryPredictAsync(IReadOnlyList<int> members, CancellationToken cancellationToken)
    {
        try
        {
            var first = await ReadVolumeAsync(members[0], endsCount: false, cancellationToken);

            // Encrypted headers are never predicted, because later checks no longer have the password.
            if (first.HasEncryptedHeaders || first.Tail is null)
                return null;
            var second = await ReadVolumeAsync(members[1], endsCount: false, cancellationToken);
            var last = await ReadAsync(members[^1], RarDepth.Whole, cancellationToken);
            List<int> middle = [.. members.Skip(2).SkipLast(1)];
            List<long?> lengths = [.. middle.Select(index => source.Predict(index, like: members[1], length: null))];
            if (lengths.Contains(null) || RarPrediction.Of(first, second, lengths, last) is not { } volumes)
                return null;

            await DecidePasswordAsync(volumes, members, cancellationToken);
            var set = Place(RarSet.Join(volumes, _passwords), members);
            List<PredictedVolume> predicted = [.. middle.Select((index, i) => RarExpectation.Of(volumes[i + 2], index, i + 2, source.HasKnownLength(index)))];
            return new ReadGroup([set with { Predicted = predicted }], []);
        }
        catch (ArchiveException locked) when (locked.Fault is ArchiveFault.NoPassword or ArchiveFault.WrongPassword)
        {
            return new ReadGroup([], [new FailedSet(members, FormatOf(members[0]), locked)]);
        }
        catch (ArchiveException)
        {
            // Not reported, because reading all volumes will reveal the cause.
            return null;
        }
    }

    private async Task<ReadGroup> JoinAsync(VolumeGroup group, RarVolume?[] volumes, ArchiveException?[] failures, CancellationToken cancellationToken)
    {
        var (read, failed) = (new List<ReadSet>(), new List<FailedSet>());
        List<int> present = [.. Enumerable.Range(0, volumes.Length).Where(place => volumes[place] is not null)];
        List<int> absent = [.. Enumerable.Range(0, volumes.Length).Except(present)];
        foreach (var order in RarChain.Sort([.. present.Select(place => volumes[place]!)]))
        {
            List<RarVolume> set = [.. order.Select(place => volumes[present[place]]!)];
            List<int> indexes = [.. order.Select(place => group.Members[present[place]])];
            try
            {
                await DecidePasswordAsync(set, indexes, cancellationToken);
                var joined = Place(RarSet.Join(set, _passwords), indexes);
                if (group.NeedsProof && !await IsOrderProvedAsync(set, indexes, cancellationToken))
                    throw new ArchiveException(ArchiveFault.Broken, "nothing tells the order of its volumes");
                read.Add(joined);
            }
            catch (ArchiveException failure)
            {
                // Report an unreadable volume instead, because it may be the missing one.
                var cause = failure.Fault == ArchiveFault.Incomplete && absent.Count > 0 ? failures[absent[0]]! : failure;
                if (cause != failure)
                    indexes.AddRange(absent.Select(place => group.Members[place]));
                failed.Add(new FailedSet(indexes, set[0].Format, cause));
            }
        }

        if (failed.TrueForAll(set => !absent.Exists(place => set.Volumes.Contains(group.Members[place]))))
            failed.AddRange(absent.Select(place => new FailedSet([group.Members[place]], FormatOf(group.Members[place]), failures[place]!)));
        return new ReadGroup(read, failed);
    }

    /// <summary>Reads a volume until all its parts are known. On a mismatch, retries with verified bytes and a measured length.</summary>
    private async Task<RarVolume> ReadVolumeAsync(int index, bool endsCount, CancellationToken cancellationToken)
    {
        try
        {
            return await ReadFarEnoughAsync();
        }
        catch (ArchiveException failure) when (failure.Fault is ArchiveFault.Broken or ArchiveFault.WrongPassword)
        {
            await source.MeasureAsync([index], cancellationToken);
            return await ReadFarEnoughAsync();
        }

        async Task<RarVolume> ReadFarEnoughAsync()
        {
            var volume = await ReadAsync(index, RarDepth.FirstFile, cancellationToken);
            var isWanting = !volume.HasAllParts || (endsCount && volume is { Format: ArchiveFormat.Rar4, Number: null });
            return isWanting ? await ReadAsync(index, RarDepth.Whole, cancellationToken) : volume;
        }
    }

    private async Task<RarVolume> ReadAsync(int index, RarDepth depth, CancellationToken cancellationToken)
    {
        try
        {
            return await RarVolumeReader.ReadAsync(new HeaderWindow(source.Open(index), budget), _passwords, depth, cancellationToken);
        }
        catch (ArticleGoneException gone)
        {
            throw PostedRelease.Lost(gone.Loss);
        }
    }

    /// <summary>Finds the password of files without a check value, by their decrypted content (IMP-57).</summary>
    private async Task DecidePasswordAsync(IReadOnlyList<RarVolume> set, IReadOnlyList<int> indexes, CancellationToken cancellationToken)
    {
        var locked = set.SelectMany((volume, place) => volume.Parts.Select(part => (Part: part, Index: indexes[place])))
            .Where(one => one.Part is { Kind: RarPartKind.File, Method: null, Encryption: not null, IsSplitBefore: false, DataLength: > 0 })
            .OrderByDescending(one => one.Part.UnpackedLength)
            .ToList();
        if (locked.Count > 0)
            await _passwords.SearchAsync(DecideAsync, cancellationToken);

        async Task<string> DecideAsync()
        {
            if (_passwords.Decide(locked[0].Part.Encryption!) is { } known)
                return known;
            var candidates = _passwords.Candidates;
            foreach (var (part, index) in locked)
            {
                var text = new ArchiveExtent(index, part.DataOffset, part.DataLength);
                var ciphers = new CipherCandidates(candidates, password => _passwords.CipherOf(part.Encryption!, password));
                var whole = part.IsSplitAfter ? null : part.Crc32;
                if (await CipherChoice.FindAsync(part.Path, part.UnpackedLength, [text], ciphers, whole, source, cancellationToken) is not { } found)
                    continue;
                _passwords.Settle(found);
                return found;
            }

            throw CipherChoice.UncheckablePassword();
        }
    }

    /// <summary>Whether checksums of the parts prove the order of volumes without numbers and names (IMP-51).</summary>
    private async Task<bool> IsOrderProvedAsync(List<RarVolume> set, List<int> indexes, CancellationToken cancellationToken)
    {
        if (set.All(volume => volume.Number is not null) || set.Count(IsInterchangeable) < 2)
            return true;
        List<RarPart> parts = [.. set.Select(volume => volume.Parts.FirstOrDefault(part => part.Identity == set[0].Tail?.Identity)).OfType<RarPart>()];
        if (parts.Count != set.Count)
            return false;
        var last = new ArchiveExtent(indexes[^1], parts[^1].DataOffset, parts[^1].DataLength);
        return RarSet.IsOrderProved(parts, await CipherChoice.ChecksumAsync(source, last, cancellationToken));

        static bool IsInterchangeable(RarVolume volume) => volume.Head is { IsSplitBefore: true, IsSplitAfter: true };
    }

    private ArchiveFormat FormatOf(int index) =>
        source.Candidates[index].Kind == Media.MediaKind.Rar4 ? ArchiveFormat.Rar4 : ArchiveFormat.Rar5;

    private static ReadSet Place(ArchiveMap map, IReadOnlyList<int> indexes) =>
        new(indexes, map with { Entries = [.. map.Entries.Select(entry => entry with { Extents = [.. entry.Extents.Select(extent => extent with { Volume = indexes[extent.Volume] })] })] }, []);
}
