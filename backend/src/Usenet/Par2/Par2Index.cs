namespace Sluice.Usenet.Par2;

/// <summary>The content of a PAR2 set's index. Immutable. Every description is verified by its packet's MD5.</summary>
public sealed record Par2Index
{
    public required UInt128 SetId { get; init; }

    /// <summary>Length of a slice in bytes; 0 if the main packet was not found intact.</summary>
    public required long SliceSize { get; init; }

    /// <summary>The files in the order of the main packet, then unlisted files in the order found.</summary>
    public required IReadOnlyList<Par2File> Files { get; init; }

    /// <summary>Number of recovery slices found; 0 in an index, more in a volume.</summary>
    public required int RecoverySlices { get; init; }

    /// <summary>Whether every file of the set is described.</summary>
    public required bool IsComplete { get; init; }

    /// <summary>Parses the beginning of a file, or the whole file; null if no packet is intact. Pure.</summary>
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

/// <summary>Collects the packets of a file; ignores repeated and damaged packets. Not thread-safe.</summary>
internal sealed class Par2Findings
{
    // Limited, because each damaged packet costs a checksum; this many take less than a tenth of a second.
    private const int MaxDamaged = 100;

    private readonly Dictionary<UInt128, int> _places = [];
    private readonly List<Par2File> _files = [];
    private readonly Dictionary<UInt128, string> _unicodeNames = [];
    private UInt128? _setId;
    private Par2Main? _main;
    private int _recovery;
    private int _damaged;

    /// <summary>Whether to continue reading.</summary>
    public bool WantsMore => _damaged < MaxDamaged;

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

    /// <summary>Returns the index as known so far; null if no packet was intact.</summary>
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
