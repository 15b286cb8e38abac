namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// Tests whether a provider supports several outstanding commands per connection. Some servers answer out of order, drop commands or disconnect, but work well
/// with one command at a time.
/// </summary>
/// <remarks>
/// Thread-safe. A failing line takes down all its connections, so failures alone prove nothing. Pipelining is disabled only after two rounds, each with
/// failures with pipelining followed by replies without it.
/// </remarks>
internal sealed class PipelineTrial(TimeProvider time)
{
    private const int FailuresOfATrial = 3;
    private const int AnswersThatExcuseAFailure = 20;
    private const int AnswersThatAcquit = 200;
    private const int AnswersOneByOne = 20;
    private const int TrialsFailed = 2;
    private static readonly TimeSpan TryAgainAfter = TimeSpan.FromHours(6);

    private readonly Lock _gate = new();
    private int _failures;
    private int _answers;
    private int _trialsFailed;
    private bool _oneByOne;
    private long? _pinnedAt;
    private NntpFault _lastFault;

    public bool MayPipeline
    {
        get
        {
            lock (_gate)
            {
                if (_pinnedAt is { } at && time.GetElapsedTime(at) >= TryAgainAfter)
                    Restart(trialsFailed: TrialsFailed - 1);
                return !_oneByOne;
            }
        }
    }

    /// <summary>The reason commands are sent one at a time, as a sentence for an operator; null while pipelining is in use or on trial.</summary>
    public string? PinnedBecause
    {
        get
        {
            lock (_gate)
                return _pinnedAt is null ? null : $"Connections break when several commands are on their way ({_lastFault}), and hold when there is one.";
        }
    }

    /// <summary>Counts a complete reply. Returns true if it proves that the provider does not support pipelining.</summary>
    public bool Answered(bool pipelined)
    {
        lock (_gate)
        {
            if (_pinnedAt is not null || pipelined == _oneByOne)
                return false;
            _answers++;
            if (!_oneByOne)
            {
                if (_answers >= AnswersThatAcquit)
                    Restart(trialsFailed: 0);
                return false;
            }

            if (_answers < AnswersOneByOne)
                return false;
            if (++_trialsFailed < TrialsFailed)
            {
                Restart(_trialsFailed);
                return false;
            }

            _pinnedAt = time.GetTimestamp();
            return true;
        }
    }

    /// <summary>Counts a connection broken by the server while one reply, or several if <paramref name="pipelined"/>, were outstanding.</summary>
    public void Broke(NntpFault fault, bool pipelined)
    {
        lock (_gate)
        {
            if (_pinnedAt is not null || pipelined == _oneByOne)
                return;

            // Connections that also break without pipelining break for another reason.
            if (_oneByOne)
            {
                Restart(trialsFailed: 0);
                return;
            }

            _lastFault = fault;
            if (++_failures < FailuresOfATrial)
                return;
            var fails = _answers < _failures * AnswersThatExcuseAFailure;
            Restart(_trialsFailed);
            _oneByOne = fails;
        }
    }

    private void Restart(int trialsFailed)
    {
        (_failures, _answers, _trialsFailed, _oneByOne, _pinnedAt) = (0, 0, trialsFailed, false, null);
    }
}
