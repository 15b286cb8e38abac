using System.Threading.Tasks.Sources;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// The pending reply to one BODY command. Written by the read loop of its connection, awaited by the fetch, and let go by
/// whoever gives the fetch up; <c>_gate</c> orders these three, so that the sink is never called after the fetch has ended.
/// </summary>
internal sealed class ArticleBody : IValueTaskSource<BodyOutcome>
{
    private readonly Lock _gate = new();
    private readonly int _provider;
    private ManualResetValueTaskSourceCore<BodyOutcome> _completion;
    private IArticleSink? _sink;
    private BodyScanner _scanner = BodyScanner.AtStart;
    private bool _completed;

    public ArticleBody(ArticleRequest request, IArticleSink sink, int provider)
    {
        Id = request.Id;
        ExpectedBytes = request.ExpectedBytes;
        _sink = sink;
        _provider = provider;
        // The continuation belongs to the fetch; run inline it would hold up the replies behind this one.
        _completion.RunContinuationsAsynchronously = true;
    }

    public MessageId Id { get; }

    /// <summary>Encoded size that the request promised; 0 when it promised none.</summary>
    public long ExpectedBytes { get; }

    /// <summary>Bytes of the body seen so far. Written by the read loop only.</summary>
    public long Received { get; private set; }

    /// <summary>Bytes still to come, by the size that the NZB promised; at least 1 while the end has not been seen.</summary>
    public long Remaining => Math.Max(ExpectedBytes - Received, 1);

    /// <summary>Whether the fetch has ended while the reply is still to come or under way.</summary>
    public bool IsAbandoned { get; private set; }

    /// <summary>When the first byte of the body arrived, in ticks of the time provider; 0 before. Read loop only.</summary>
    public long FirstByteAt { get; set; }

    /// <summary>When the command went out on an otherwise idle connection, so that its answer measures the round trip; else 0.</summary>
    public long SentOnIdleAt { get; set; }

    public ValueTask<BodyOutcome> Outcome => new(this, _completion.Version);

    /// <summary>The 222 has arrived.</summary>
    public void Start()
    {
        lock (_gate)
            _sink?.Start(_provider);
    }

    /// <summary>Hands the next stretch to the sink, or looks for the end of what nobody wants.</summary>
    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        lock (_gate)
        {
            // The scanner runs beside a decoder too: the sink may be taken away between any two stretches,
            // and only one of both knows where the terminator stands then.
            var ended = _sink is null ? _scanner.Scan(raw, out consumed) : WriteToSink(raw, out consumed);
            Received += consumed;
            return ended;
        }
    }

    public void Complete(BodyOutcome outcome)
    {
        if (TryEnd())
            _completion.SetResult(outcome);
    }

    public void Fail(Exception error)
    {
        if (TryEnd())
            _completion.SetException(error);
    }

    /// <summary>Ends the fetch from outside; the sink is free when this returns.</summary>
    /// <returns>False when the reply has ended before.</returns>
    public bool TryAbandon(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_completed)
                return false;
            IsAbandoned = true;
            _completed = true;
            _sink = null;
        }

        _completion.SetException(new OperationCanceledException(cancellationToken));
        return true;
    }

    BodyOutcome IValueTaskSource<BodyOutcome>.GetResult(short token) => _completion.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<BodyOutcome>.GetStatus(short token) => _completion.GetStatus(token);

    void IValueTaskSource<BodyOutcome>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _completion.OnCompleted(continuation, state, token, flags);

    private bool WriteToSink(ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = _sink!.Write(raw, out consumed);
        if (!ended)
            _scanner.Skip(raw);
        return ended;
    }

    private bool TryEnd()
    {
        lock (_gate)
        {
            if (_completed)
                return false;
            _completed = true;
            _sink = null;
            return true;
        }
    }
}
