namespace Sluice.Usenet.Par2;

/// <summary>What a PAR2 set says about the files that it protects.</summary>
/// <remarks>Immutable. Every description was proved by the MD5 of its packet.</remarks>
public sealed record Par2Index
{
    /// <summary>The id of the set.</summary>
    public required UInt128 SetId { get; init; }

    /// <summary>Length of a slice in bytes; 0 where the main packet was not found whole.</summary>
    public required long SliceSize { get; init; }

    /// <summary>The files in the order of the main packet, then those that it does not name, in the order in which they were found.</summary>
    public required IReadOnlyList<Par2File> Files { get; init; }

    /// <summary>Slices for repair in the file that was read, which an index has none of; the volumes have more.</summary>
    public required int RecoverySlices { get; init; }

    /// <summary>Whether every file of the set is described.</summary>
    public required bool IsComplete { get; init; }

    /// <summary>Reads an index that is at hand. Pure.</summary>
    /// <param name="bytes">The file, or as much of its beginning as there is.</param>
    /// <returns>Null where no packet is whole.</returns>
    public static Par2Index? Parse(ReadOnlySpan<byte> bytes)
    {
        var found = new Par2Findings();
        while (bytes.Length > 0 && found.WantsMore)
        {
            var step = Par2Reader.Next(bytes, bytes.Length);
            found.Add(step);
            bytes = bytes[(int)step.Advance..];
        }

        return found.ToIndex();
    }
}

/// <summary>What the packets of a file have told so far. Packets that come again change nothing; damaged ones are left out.</summary>
/// <remarks>Not thread-safe.</remarks>
internal sealed class Par2Findings
{
    // The checksum of a packet that fails has been computed for nothing: as many as these cost less than a tenth of a second.
    private const int MaxDamaged = 100;

    private readonly Dictionary<UInt128, int> _places = [];
    private readonly List<Par2File> _files = [];
    private readonly Dictionary<UInt128, string> _unicodeNames = [];
    private UInt128? _setId;
    private Par2Main? _main;
    private int _recovery;
    private int _damaged;

    /// <summary>Whether the file is worth reading on.</summary>
    public bool WantsMore => _damaged < MaxDamaged;

    /// <summary>Takes a step of the reader.</summary>
    public void Add(Par2Step step)
    {
        _damaged += step.IsDamaged ? 1 : 0;
        if (step.Packet is not { } packet || (_setId ?? packet.SetId) != packet.SetId)
            return;

        switch (packet)
        {
            case Par2Recovery:
                _recovery++;
                return;
            case Par2Main main:
                _main ??= main;
                break;
            case Par2Description { File: var file } when _files.Count < Par2Reader.MaxFiles && _places.TryAdd(file.Id, _files.Count):
                _files.Add(file);
                break;
            case Par2UnicodeName name when _unicodeNames.Count < Par2Reader.MaxFiles:
                _unicodeNames.TryAdd(name.FileId, name.Name);
                break;
        }

        _setId = packet.SetId;
    }

    /// <summary>The index as far as it is known; null where no packet was whole.</summary>
    public Par2Index? ToIndex()
    {
        if (_setId is not { } setId)
            return null;

        List<Par2File> named = [.. _files.Select(file => _unicodeNames.TryGetValue(file.Id, out var name) ? file with { Name = name } : file)];
        var ids = _main?.FileIds ?? [];
        var places = ids.Distinct().Where(_places.ContainsKey).Select(id => _places[id]).ToList();
        return new Par2Index
        {
            SetId = setId,
            SliceSize = _main?.SliceSize ?? 0,
            Files = [.. places.Concat(Enumerable.Range(0, named.Count).Except(places)).Select(place => named[place])],
            RecoverySlices = _recovery,
            IsComplete = _main is not null && ids.All(_places.ContainsKey),
        };
    }
}
