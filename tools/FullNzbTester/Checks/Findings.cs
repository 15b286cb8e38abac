namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>What a run has found out about right and wrong.</summary>
/// <remarks>Thread-safe, because readers play side by side.</remarks>
internal sealed class Findings
{
    private readonly Lock _gate = new();
    private readonly List<string> _failures = [];
    private readonly List<Hole> _holes = [];
    private long _verified;
    private long _wrong;
    private long _unproved;

    /// <summary>Sentences, each of which turns the exit code to 1.</summary>
    public IReadOnlyList<string> Failures
    {
        get
        {
            lock (_gate)
                return [.. _failures];
        }
    }

    /// <summary>Reads that ended at an article that is said to be gone.</summary>
    public IReadOnlyList<Hole> Holes
    {
        get
        {
            lock (_gate)
                return [.. _holes];
        }
    }

    /// <summary>Bytes that were compared and right.</summary>
    public long Verified => Volatile.Read(ref _verified);

    /// <summary>Bytes that were compared and wrong.</summary>
    public long Wrong => Volatile.Read(ref _wrong);

    /// <summary>Bytes of a damaged landing segment that left before the read was aborted.</summary>
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

    /// <summary>A byte that is not what it has to be; only the first of a run is described.</summary>
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

/// <summary>An abort that has to be judged: is the article really gone?</summary>
/// <param name="File">The file that was read.</param>
/// <param name="Segment">0-based index of the article.</param>
internal readonly record struct Hole(TestedFile File, int Segment);
