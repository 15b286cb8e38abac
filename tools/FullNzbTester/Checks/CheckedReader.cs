using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>
/// Compares the bytes of one stream with the expected bytes as they are read. Bytes of the landing segment count only once the segment is
/// verified, because the stream may serve them earlier (contract TST-12).
/// </summary>
internal sealed class CheckedReader : IAsyncDisposable
{
    private readonly IContentSession _session;
    private readonly TestedFile _file;
    private readonly Findings _findings;
    private readonly Truth? _truth;
    private readonly bool _provedOnly;
    private readonly IContentStream _stream;
    private Segment _landing;
    private long _landed;
    private long _pending;
    private long _pendingWrong;
    private (long Offset, byte Found)? _firstPendingWrong;

    public CheckedReader(IContentSession session, TestedFile file, Findings findings, bool verifyBeforeServe, long position, long? end = null)
    {
        _session = session;
        _file = file;
        _findings = findings;
        _truth = file.NewTruth?.Invoke();
        _provedOnly = verifyBeforeServe;
        _stream = session.Open(file, position, end);
        Land(position);
    }

    public long Position { get; private set; }

    /// <summary>Only reads from the stream, so that the read can be timed. <see cref="Took"/> compares the bytes afterwards.</summary>
    public ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken) => _stream.ReadAsync(buffer, cancellationToken);

    public void Took(ReadOnlySpan<byte> found)
    {
        if (found.IsEmpty)
            Prove();
        if (_truth is not null)
            Compare(found);
        Position += found.Length;
        if (Position >= _landing.Begin + _landing.Length)
            Prove();
    }

    public async Task<int> FillAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        var total = 0;
        while (total < buffer.Length)
        {
            var read = await ReadAsync(buffer[total..], cancellationToken);
            Took(buffer.Span.Slice(total, read));
            if (read == 0)
                break;
            total += read;
        }

        return total;
    }

    public void Seek(long position)
    {
        Settle(aborted: false);
        _stream.Seek(position);
        Land(position);
    }

    /// <summary>Ends a read that failed, and checks whether a hole in the post explains the error.</summary>
    /// <param name="mayMeetHoles">Whether the run makes holes.</param>
    /// <returns>Where the next read may begin; null if the rest of the file cannot be read.</returns>
    public async ValueTask<long?> AbortAsync(IOException error, bool mayMeetHoles, CancellationToken cancellationToken)
    {
        Settle(aborted: true);
        if (!mayMeetHoles || await _session.ExplainAsync(error, _file, _landing, _landed, Position, cancellationToken) is not { } hole)
        {
            _findings.Fail($"the read of {_file.Name} broke at {Position}: {error.Message}");
            return null;
        }

        if (!hole.IsExact)
            _findings.Fail($"the read of {_file.Name} was aborted at {Position} and not at its hole: {error.Message}");
        _findings.Meet(new Hole(_file, hole.Segment));
        var behind = _file.BehindHole(hole.Segment);
        return behind < _file.Length ? behind : null;
    }

    /// <summary>Ends a read whose error is not judged. Unverified bytes do not count.</summary>
    public void GiveUp() => Settle(aborted: true);

    public async ValueTask DisposeAsync()
    {
        Settle(aborted: false);
        await _stream.DisposeAsync();
    }

    private void Land(long position)
    {
        Position = _landed = position;
        _landing = position < _file.Length ? _file.Map.Locate(position) : default;
        (_pending, _pendingWrong, _firstPendingWrong) = (0, 0, null);
    }

    private void Compare(ReadOnlySpan<byte> found)
    {
        // Every byte after the landing segment was verified before the stream served it.
        var inLanding = _provedOnly ? 0 : (int)Math.Clamp(_landing.Begin + _landing.Length - Position, 0, found.Length);
        var (wrong, first) = CountWrong(Position, found[..inLanding]);
        _pending += inLanding;
        _pendingWrong += wrong;
        _firstPendingWrong ??= first;

        var proved = found[inLanding..];
        (wrong, first) = CountWrong(Position + inLanding, proved);
        _findings.Count(proved.Length - wrong, wrong, 0);
        Describe(first);
    }

    private (long Wrong, (long Offset, byte Found)? First) CountWrong(long at, ReadOnlySpan<byte> found)
    {
        var index = found.IsEmpty ? -1 : _truth!.FirstDifference(at, found);
        if (index < 0)
            return (0, null);
        var first = (at + index, found[index]);
        long wrong = 0;
        for (; index < found.Length; index++)
            wrong += found[index] == _truth!.At(at + index) ? 0 : 1;
        return (wrong, first);
    }

    /// <summary>Counts the bytes of the landing segment, because the segment or the engine has confirmed them.</summary>
    private void Prove()
    {
        _findings.Count(_pending - _pendingWrong, _pendingWrong, 0);
        Describe(_firstPendingWrong);
        (_pending, _pendingWrong, _firstPendingWrong) = (0, 0, null);
    }

    /// <summary>Settles the landing segment, because its read has ended.</summary>
    private void Settle(bool aborted)
    {
        var unproved = aborted || _pendingWrong > 0;
        _findings.Count(unproved ? 0 : _pending, 0, unproved ? _pending : 0);
        (_pending, _pendingWrong, _firstPendingWrong) = (0, 0, null);
    }

    private void Describe((long Offset, byte Found)? wrong)
    {
        if (wrong is not { } first)
            return;
        var segment = _file.Map.Locate(first.Offset).Index;
        var deliveredBy = _session.DelivererOf(_file, segment);
        _findings.WrongByte(_file, first.Offset, _truth!.At(first.Offset), first.Found, segment + 1, deliveredBy);
    }
}
