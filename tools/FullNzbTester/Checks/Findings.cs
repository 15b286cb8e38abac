namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>Failures, holes and compared bytes of a run.</summary>
/// <remarks>Thread-safe, because several readers run at once.</remarks>
internal sealed class Findings
{
    private readonly Lock _gate = new();
    private readonly List<string> _failures = [];
    private readonly List<Hole> _holes = [];
    private long _verified;
    private long _wrong;
    private long _unproved;

    /// <summary>Failure messages. Any failure makes the exit code 1.</summary>
    public IReadOnlyList<string> Failures
    {
        get
        {
            lock (_gate)
                return [.. _failures];
        }
    }

    /// <summary>Reads that ended at an article reported missing.</summary>
    public IReadOnlyList<Hole> Holes
    {
        get
        {
            lock (_gate)
                return [.. _holes];
        }
    }

    /// <summary>Compared bytes that matched.</summary>
    public long Verified => Volatile.Read(ref _verified);

    /// <summary>Compared bytes that differed.</summary>
    public long Wrong => Volatile.Read(ref _wrong);

    /// <summary>Bytes of a damaged landing segment served before the abort.</summary>
    public long Unproved => Volatile.Read(ref _unproved);

    public void Fail(FormattableString sentence)
    {
        lock (_gate)
            _failures.Add(FormattableString.Invariant(sentence));
    }

    public void Meet(Hole hole)
    {
        lock (_gate)
            _holes.Add(hole);
    }

    public void Count(long verified, long wrong, long unproved)
    {
        Interlocked.Add(ref _verified, verified);
        Interlocked.Add(ref _wrong, wrong);
        Interlocked.Add(ref _unproved, unproved);
    }

    /// <summary>Reports a wrong byte. Only the first of the run is described, because the rest usually follow from it.</summary>
    public void WrongByte(TestedFile file, long offset, byte expected, byte found, int article, string provider)
    {
        lock (_gate)
        {
            if (_failures.Exists(failure => failure.StartsWith(FirstWrong, StringComparison.Ordinal)))
                return;
            Fail($"{FirstWrong} of {file.Name} at offset {offset}: expected 0x{expected:x2}, found 0x{found:x2}, article {article}, {provider}");
        }
    }

    private const string FirstWrong = "first wrong byte";
}

/// <summary>An aborted read to verify: the article may still be available.</summary>
/// <param name="Segment">0-based index of the article.</param>
internal readonly record struct Hole(TestedFile File, int Segment);
