namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// Finds out whether a provider bears more than one command at a time on a connection. Some answer out of order, drop commands
/// or break off, and work all the same when they are asked one thing after the other.
/// </summary>
/// <remarks>
/// Thread-safe; every call decides under a lock of its own. A line that fails takes all its connections along, so failures
/// alone prove nothing: pipelining is given up only after it has failed, the same provider has answered without it, it has
/// failed again, and the provider has answered without it again.
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

    /// <summary>Whether more than one command may be outstanding on a connection.</summary>
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

    /// <summary>Why no command is sent before the last is answered, in a sentence for an operator; null while pipelining is in use or on trial.</summary>
    public string? PinnedBecause
    {
        get
        {
            lock (_gate)
                return _pinnedAt is null ? null : $"Connections break when several commands are on their way ({_lastFault}), and hold when there is one.";
        }
    }

    /// <summary>A reply has come to its end in its order.</summary>
    /// <param name="pipelined">Whether its command was sent behind others, or with others.</param>
    /// <returns>True when this has settled that the provider bears no pipelining.</returns>
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

    /// <summary>A connection has broken, by the server's doing, while replies were outstanding.</summary>
    /// <param name="fault">How.</param>
    /// <param name="pipelined">Whether more than one command was.</param>
    public void Broke(NntpFault fault, bool pipelined)
    {
        lock (_gate)
        {
            if (_pinnedAt is not null || pipelined == _oneByOne)
                return;

            // What breaks one by one as well has other reasons.
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
