using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// One load of a segment into memory, with its waiters and the requests, retries and copies that it takes. A waiter may join at any time and gets the
/// bytes received so far. When the last waiter leaves, the load is abandoned, unless too little remains to save anything. Single use.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> orders joins, leaves, arriving bytes and the end, and guards the list of waiters; it is held only briefly. Under it
/// waiters publish early bytes, which takes no lock. When a try fails they withdraw them, which takes the locks of their debt and of the buffer's
/// memory. The sink, the search and the doubtful copies are used by one thread at a time, without the gate.
/// </remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source has nothing to dispose, and all else is given back when the load ends.")]
internal sealed class SegmentLoad : IArticleSink
{
    /// <summary>
    /// With no more bytes than this to come, an unwanted article is finished, because its connection would read it to the end anyway.
    /// </summary>
    private const int WorthFinishing = 256 * 1024;

    // Scanners read the edges of a file again and again, so more is worth finishing there: the segment is kept on disk.
    private const int WorthKeeping = 1024 * 1024;

    private const int RoundsPerCopy = 2;

    private static readonly TimeSpan FinishTimeout = TimeSpan.FromMilliseconds(250);

    // How long one article waits for another to show which evidence the file carries; then it is confirmed on its own.
    private static readonly TimeSpan HabitWaitTimeout = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();
    private readonly SegmentFetcher _owner;
    private readonly PostedFile _file;

    // Touched by RunAsync, and by the connection that delivers an article while RunAsync waits for it.
    private SegmentSink _sink;
    private CopySearch? _search;
    private DoubtfulCopies? _doubtful;
    private KnownDamage? _known;
    private List<object>? _suspects;
    private int _tries = 1;
    private int _uselessTries;

    // RunAsync never fails. SegmentFetcher waits for its end by counting the calls of Ended.
    private Task _run = Task.CompletedTask;

    // Guarded by the gate, like the fields below.
    private SegmentWaiter? _first;
    private ITimer? _finishing;
    private ReadBlocks? _reads;

    // Never disposed, because it has neither a timer nor a wait handle unless a caller asks for one.
    private CancellationTokenSource _cancel = new();
    private SegmentBuffer? _early;
    private int _available;
    private bool _hasBeenSeen;
    private int _arrived;
    private bool _hasStarted;
    private bool _isAbandoned;
    private bool _hasEnded;
    private long _joinedAt;

    /// <summary>
    /// Creates a load for its first waiter. Other files with the same segment share it. <paramref name="known"/> is null unless an earlier load of
    /// the segment failed.
    /// </summary>
    public SegmentLoad(SegmentFetcher owner, SegmentKey key, PostedFile file, OperationLane lane, FetchUrgency urgency, KnownDamage? known)
    {
        (_owner, Key, _file, Lane, Urgency, _known) = (owner, key, file, lane, urgency, known);
        _sink = new SegmentSink(this);
    }

    public LoadServices Services => _owner.Services;

    public SegmentKey Key { get; }

    public FileOrigin File => _file.Origin;

    /// <summary>Checks articles that contradict the map; null to treat such articles as damaged.</summary>
    public IMapCorrection? Correction => _file.Correction;

    public FileHabit Habit => _file.Habit;

    public bool IsAgain => _known is not null;

    public int ArrivedBytes => Volatile.Read(ref _arrived);

    /// <summary>As urgent as the most urgent waiter.</summary>
    public FetchUrgency Urgency { get; }

    /// <summary>The most urgent lane of all waiters so far. Written under the gate.</summary>
    private OperationLane Lane { get; set; }

    private CopySearch Search => _search ??= new CopySearch(Key.Ids, Services.Source.ProviderCount, RoundsPerCopy);

    /// <summary>Ends the current try: for good, or so that the next try uses a more urgent lane.</summary>
    private CancellationToken Token => Volatile.Read(ref _cancel).Token;

    /// <summary>Starts the load after the first waiter has joined. May call the owner's <c>Ended</c> before it returns.</summary>
    public void Begin() => _run = RunAsync();

    /// <summary>Adds a waiter and gives it the early bytes received so far.</summary>
    /// <returns>False if the load has ended or was abandoned.</returns>
    public bool TryJoin(SegmentWaiter waiter)
    {
        lock (_gate)
        {
            if (_isAbandoned || _hasEnded)
                return false;
            waiter.Join(this);
            waiter.Next = _first;
            _first = waiter;
            _joinedAt = Services.Time.GetTimestamp();
            _finishing?.Dispose();
            _finishing = null;
            if (waiter.IsEarly && _available > 0)
            {
                _hasBeenSeen = true;
                waiter.Publish(_early!, _available);
            }

            return true;
        }
    }

    public void Hurry(OperationLane lane, bool isHeadOfLine)
    {
        if (isHeadOfLine)
            Urgency.Raise();

        CancellationTokenSource superseded;
        lock (_gate)
        {
            if (lane >= Lane || _isAbandoned || _hasEnded)
                return;
            Lane = lane;
            if (_hasStarted)
                return;
            superseded = _cancel;
            _cancel = new CancellationTokenSource();
        }

        superseded.Cancel();
    }

    /// <summary>Removes a waiter. Does nothing if the waiter has already left or the load has ended.</summary>
    public void Leave(SegmentWaiter waiter)
    {
        CancellationTokenSource? unwanted = null;
        lock (_gate)
        {
            if (_first == waiter && waiter.Next is null && !IsWorthFinishing(waiter))
            {
                // The last waiter stays in the list until the end, so that a stream being closed can wait until nothing is in progress for it.
                _isAbandoned = true;
                unwanted = _cancel;
            }
            else if (!Remove(waiter))
            {
                return;
            }
            else if (_first is null)
            {
                _reads = waiter.Reads;
                _finishing = Services.Time.CreateTimer(static state => ((SegmentLoad)state!).GiveUp(), this, FinishTimeout, Timeout.InfiniteTimeSpan);
            }
        }

        if (unwanted is null)
            waiter.End();
        else
            unwanted.Cancel();
    }

    public void Abandon()
    {
        lock (_gate)
            _isAbandoned = true;
        _cancel.Cancel();
    }

    /// <summary>Called by the sink when a try begins or proves worthless. Withdraws the bytes published by the last try.</summary>
    /// <returns>Whether a waiter has seen the buffer of the last try, so that it must never be written again.</returns>
    public bool Retract()
    {
        lock (_gate)
        {
            var hadBeenSeen = _hasBeenSeen;
            for (var each = hadBeenSeen ? _first : null; each is not null; each = each.Next)
                each.Withdraw();
            ClearPublished();
            return hadBeenSeen;
        }
    }

    /// <summary>Called by the sink when its buffer leaves it; the published bytes stay valid.</summary>
    public void Detach()
    {
        lock (_gate)
            ClearPublished();
    }

    /// <summary>Called by the sink with the number of bytes decoded so far.</summary>
    public void Arrived(SegmentBuffer buffer, int count, bool mayPublish)
    {
        lock (_gate)
        {
            _hasStarted = true;
            _arrived = count;
            if (!mayPublish || count == 0)
                return;
            (_early, _available) = (buffer, count);
            for (var each = _first; each is not null; each = each.Next)
            {
                if (!each.IsEarly)
                    continue;
                _hasBeenSeen = true;
                each.Publish(buffer, count);
            }
        }
    }

    void IArticleSink.Start(int provider) => _sink.Start(provider);

    bool IArticleSink.Write(ReadOnlySpan<byte> raw, out int consumed) => _sink.Write(raw, out consumed);

    /// <summary>
    /// Called once by the owner. Gives every waiter a reference to the proved buffer, or the failure. The caller keeps its own reference.
    /// </summary>
    public void End(SegmentBuffer? proved, Exception? failure)
    {
        SegmentWaiter? waiter;
        lock (_gate)
        {
            _hasEnded = true;
            _finishing?.Dispose();
            (waiter, _first) = (_first, null);
        }

        for (; waiter is not null; waiter = waiter.Next)
        {
            if (proved is null)
            {
                waiter.Fail(failure!);
            }
            else
            {
                proved.Retain();
                waiter.Complete(proved);
            }

            waiter.End();
        }

        if (proved is not null)
            _reads?.Offer(proved);
    }

    /// <summary>
    /// Sends one request after another until a copy is proved, by itself or by a second copy with the same bytes. Ends too if the segment is proved
    /// gone or no retry makes sense. Never fails. Keeps few locals across awaits, because most loads end with the first answer and all pay for that
    /// memory.
    /// </summary>
    private async Task RunAsync()
    {
        if (_known is { AskIn: var askIn } && askIn > TimeSpan.Zero)
            await WaitForSecondRequestAsync(askIn);
        while (true)
        {
            var token = Token;
            Step step;
            try
            {
                token.ThrowIfCancellationRequested();
                var reply = await AskAsync(token);
                step = Step.Answered(reply.IsFound && _sink.Judge() == SegmentProof.Proved ? TakeProved() : await WeighAsync(reply, token));
            }
            catch (NntpException) when (_search is { Round: 0, IsInDoubt: true })
            {
                // No other store can be reached now, so the next round asks the store that has answered.
                _search.EndRound();
                step = Step.Answered(null);
            }
            catch (NntpException fault) when (fault is { Fault: NntpFault.ArticleTooLarge, IsOfEveryProvider: true })
            {
                // The reply is another article or has no end, so it counts as damaged.
                Search.ReportUseless();
                step = Step.Answered(null);
            }
            catch (ArticleGoneException gone) when (gone.Loss == ArticleLoss.Corrupt)
            {
                step = Doubt(gone);
            }
            catch (NntpException fault)
            {
                step = DelayAfter(fault) is { } delay ? Step.TryAgain(delay) : Step.Failed(fault);
            }
            catch (OperationCanceledException) when (token != Token && !Volatile.Read(ref _isAbandoned))
            {
                // A more urgent lane joined before any byte arrived, so the next try uses that lane.
                step = Step.TryAgain(TimeSpan.Zero);
            }
            catch (Exception other)
            {
                step = Step.Failed(other);
            }

            if (step.IsEnd)
            {
                _doubtful?.Dispose();
                _sink.Close();
                _owner.Ended(this, step.Proved, step.Failure);
                return;
            }

            if (step.Pause is { } pause)
            {
                await PauseAsync(pause);
                (_tries, _search) = (_tries + 1, null);
            }
            else if (step.Rest is { } rest)
            {
                await WaitForSecondRequestAsync(rest);
                _doubtful?.Dispose();
                (_tries, _uselessTries, _search, _doubtful, _suspects) = (1, 0, null, null, null);
            }
        }
    }

    /// <summary>Sends the next request of the search, or the first one if there is no search yet.</summary>
    private ValueTask<ArticleReply> AskAsync(CancellationToken cancellationToken)
    {
        if (_search?.HasNext() == false)
            throw new ArticleGoneException(_search.Loss, Key.Segment.Index);
        if (_search is not null)
            Urgency.WasAskedAgain = true;
        var request = new ArticleRequest(_search?.Id ?? Key.Ids.Primary, Lane, Urgency, Key.Segment.EncodedLength, _search?.Excluded ?? default)
        {
            Release = File,
            ContinuesInline = true,
            Avoided = Avoided,
        };
        return Services.Source.FetchAsync(request, this, cancellationToken);
    }

    /// <summary>Connections that delivered unproved copies, because another connection may bring a better one; null for none.</summary>
    private IReadOnlyCollection<object>? Avoided => _known is { Connections: { Count: > 0 } known } ? [.. known, .. _suspects ?? []] : _suspects;

    /// <summary>
    /// Records in the search that the answer was no proved copy. A copy without full evidence is compared with earlier copies. If it depends on the
    /// habit of the file, another article may decide it meanwhile.
    /// </summary>
    /// <returns>The bytes of the segment if the copy is proved after all; else null.</returns>
    /// <exception cref="MapRefutedException">The article claims another range, which may be the right one.</exception>
    private async Task<SegmentBuffer?> WeighAsync(ArticleReply reply, CancellationToken cancellationToken)
    {
        var search = Search;
        if (!reply.IsFound)
        {
            search.EndRound();
            return null;
        }

        if (reply.Connection is { } connection)
            (_suspects ??= []).Add(connection);

        switch (_sink.Proof)
        {
            case SegmentProof.Refuting:
                throw new MapRefutedException(_sink.Claim!.Value);
            case SegmentProof.Unconfirmed:
                var (doubtful, store) = (_doubtful ??= new DoubtfulCopies(), Services.Source.StoreOf(reply.Provider));
                if (doubtful.Confirm(_sink.Checksum, search.Id, store, mayBeOfOne: search.Round > 0))
                {
                    _sink.Confirm();
                    return TakeProved();
                }

                await LearnHabitAsync(doubtful, cancellationToken);
                if (_sink.JudgeAgain() == SegmentProof.Proved)
                    return TakeProved();
                doubtful.Add(_sink.Checksum, search.Id, reply.Provider);
                search.ReportDoubtful(reply.Provider, store);
                return null;
            default:
                StreamsLog.CorruptArticle(Services.Logger, Key.Segment.Index + 1, reply.Provider);
                search.ReportBad(reply.Provider);
                return null;
        }
    }

    /// <summary>If the copy depends on the habit of the file, waits for the evidence of another article.</summary>
    private async ValueTask LearnHabitAsync(DoubtfulCopies doubtful, CancellationToken cancellationToken)
    {
        while (_sink.HingesUponHabit && !doubtful.TryClaimQuestion(Habit, out var answer))
        {
            try
            {
                await answer.WaitAsync(HabitWaitTimeout, Services.Time, cancellationToken);
            }
            catch (TimeoutException)
            {
                return;
            }
        }
    }

    /// <summary>Accepts the copy judged last. Providers whose unconfirmed copies had other bytes are reported as corrupt.</summary>
    private SegmentBuffer TakeProved()
    {
        foreach (var liar in _doubtful?.FindProvidersUnlike(_sink.Checksum) ?? [])
            Services.Trust.Judged(File, Services.Source.ProviderId(liar), isCorrupt: true);
        return _sink.Take();
    }

    /// <summary>
    /// Handles a request that brought only damaged copies. A second one over other connections decides. Until then readers without any bytes get an
    /// error, and readers whose response has begun wait.
    /// </summary>
    private Step Doubt(ArticleGoneException gone)
    {
        var suspects = _suspects ?? [];
        if (_owner.ReportGarbled(this, suspects) is not { } askIn)
            return Step.Failed(gone);

        // This was the second request, but one connection brought both copies because no other was free. The next request must use another.
        if (_known is { Loss: ArticleLoss.Corrupt })
            suspects.ForEach(Services.Source.Distrust);
        _known = new KnownDamage(gone.Loss, IsBelieved: false, IsDoubt: true, askIn, suspects);
        var doubt = new ArticleDoubtedException(Key.Segment.Index, askIn);
        return askIn == TimeSpan.Zero || RefuseOptionalWaiters(doubt) ? Step.AskLater(askIn) : Step.Failed(doubt);
    }

    /// <summary>Fails the waiters of readers without any bytes.</summary>
    /// <returns>False if no waiter is left. Then no waiter can join, and the refused ones get the error when the load ends.</returns>
    private bool RefuseOptionalWaiters(ArticleDoubtedException doubt)
    {
        SegmentWaiter? refused = null;
        lock (_gate)
        {
            ref var link = ref _first;
            while (link is { } waiter)
            {
                if (waiter.MustWait)
                {
                    link = ref waiter.Next;
                    continue;
                }

                link = waiter.Next;
                (waiter.Next, refused) = (refused, waiter);
            }

            if (_first is null)
            {
                (_first, _isAbandoned) = (refused, true);
                return false;
            }
        }

        while (refused is not null)
        {
            var next = refused.Next;
            refused.Fail(doubt);
            refused.End();
            refused = next;
        }

        return true;
    }

    /// <summary>Waits until the second request is due, however urgent the load becomes, or until the load is abandoned.</summary>
    private async Task WaitForSecondRequestAsync(TimeSpan rest)
    {
        // Includes a deliberate wait, so the duration must not count as the speed of the connection.
        Urgency.WasLate = true;
        var since = Services.Time.GetTimestamp();
        while (rest - Services.Time.GetElapsedTime(since) is var left && left > TimeSpan.Zero && !Volatile.Read(ref _isAbandoned))
            await PauseAsync(left);
    }

    /// <summary>Returns the pause before the next try, or null if no retry makes sense.</summary>
    private TimeSpan? DelayAfter(NntpException fault)
    {
        // Counts from the latest waiter, so that none is refused because others waited before it.
        var waited = Services.Time.GetElapsedTime(Volatile.Read(ref _joinedAt));
        _uselessTries += fault.IsOfReply ? 1 : 0;
        Urgency.WasAskedAgain = true;
        return RetryPolicy.DelayBeforeNext(fault, Lane, _tries, _uselessTries, waited, Services.Options.PlaybackRetries);
    }

    private async Task PauseAsync(TimeSpan delay)
    {
        if (delay == TimeSpan.Zero)
            return;
        try
        {
            await Task.Delay(delay, Services.Time, Token);
        }
        catch (OperationCanceledException)
        {
            // A waiter in a more urgent lane skips the rest of the pause, and the next try of an abandoned load ends at once.
        }
    }

    // Called under the gate, like all methods below except GiveUp.
    private bool IsWorthFinishing(SegmentWaiter last) =>
        _arrived > 0 && Key.Segment.Length - _arrived <= (last.Reads is null ? WorthFinishing : WorthKeeping);

    private void GiveUp()
    {
        lock (_gate)
        {
            if (_first is not null || _hasEnded)
                return;
            _isAbandoned = true;
        }

        _cancel.Cancel();
    }

    private void ClearPublished() => (_early, _available, _arrived, _hasBeenSeen) = (null, 0, 0, false);

    private bool Remove(SegmentWaiter waiter)
    {
        ref var link = ref _first;
        while (link is not null && !ReferenceEquals(link, waiter))
            link = ref link.Next;
        if (link is null)
            return false;
        link = waiter.Next;
        return true;
    }

    /// <summary>The outcome of one request: the end of the load, a retry after a pause, a new search later, or the next request.</summary>
    private readonly record struct Step(SegmentBuffer? Proved, Exception? Failure, TimeSpan? Pause, TimeSpan? Rest)
    {
        public bool IsEnd => Proved is not null || Failure is not null;

        public static Step Answered(SegmentBuffer? proved) => new(proved, null, null, null);

        public static Step TryAgain(TimeSpan pause) => new(null, null, pause, null);

        public static Step AskLater(TimeSpan rest) => new(null, null, null, rest);

        public static Step Failed(Exception failure) => new(null, failure, null, null);
    }
}

/// <summary>
/// A place in a reader's window that a load serves. The load calls <see cref="Publish"/>, <see cref="Withdraw"/>, <see cref="Complete"/> and
/// <see cref="Fail"/>, one at a time, and <see cref="End"/> last.
/// </summary>
/// <remarks>Thread-safe: <see cref="Leave"/> may come from another thread at any time.</remarks>
internal abstract class SegmentWaiter(Piece piece, FetchUrgency urgency, bool isEarly)
{
    /// <summary>The next waiter of the same load; guarded by the gate of that load.</summary>
    public SegmentWaiter? Next;

    private SegmentLoad? _load;
    private bool _hasLeft;

    public Piece Piece => piece;

    public FetchUrgency Urgency => urgency;

    /// <summary>Whether bytes may be published before they are proved. Set before the waiter joins a load.</summary>
    public bool IsEarly { get; set; } = isEarly;

    /// <summary>Records which bytes are read if they are to be kept on disk; set before any byte can be read.</summary>
    public ReadBlocks? Reads { get; set; }

    /// <summary>Reads the ids or the disk before a load, if needed. Never fails, and is over once the waiter has ended.</summary>
    public Task Preparation { get; set; } = Task.CompletedTask;

    /// <summary>
    /// Whether it waits for the second request after damaged copies. If false, its reader has had nothing yet and gets an error, because the client
    /// can come back.
    /// </summary>
    public virtual bool MustWait => true;

    public bool HasLeft => Volatile.Read(ref _hasLeft);

    /// <summary>The range of its bytes in the served file; empty if unknown.</summary>
    public virtual Stretch Place => new(piece.Begin, piece.Length);

    public int ArrivedBytes => Volatile.Read(ref _load)?.ArrivedBytes ?? 0;

    /// <summary>Whether its load was started for this waiter and not for an earlier one, so that its duration measures the connection.</summary>
    public bool BeganLoad => Volatile.Read(ref _load)?.Urgency == urgency;

    /// <summary>
    /// Called by the load under its gate. Links the urgencies, because raising the waiter's must also raise a load started by others.
    /// </summary>
    public void Join(SegmentLoad load)
    {
        if (urgency != load.Urgency)
            urgency.Follow(load.Urgency);

        // Full fence between this write and the owner's read of HasLeft, because the waiter may leave right now: it either finds the load to leave or
        // is seen to have left.
        Interlocked.Exchange(ref _load, load);
    }

    /// <summary>Stops waiting. Does nothing if the load has ended.</summary>
    public void Leave()
    {
        Interlocked.Exchange(ref _hasLeft, true);
        Volatile.Read(ref _load)?.Leave(this);
    }

    /// <summary>Called once, last: nothing is in progress for the waiter any more.</summary>
    public void End()
    {
        if (_load is { } load)
            urgency.Unfollow(load.Urgency);
        Ended();
    }

    /// <summary>Lends proved blocks from disk. Takes over the caller's reference.</summary>
    /// <returns>Completes when the reader needs the rest of the segment; canceled if it never does.</returns>
    public abstract Task Lend(SegmentBuffer blocks);

    /// <summary>Makes this many bytes of the buffer readable while the rest arrives. Must not block.</summary>
    public abstract void Publish(SegmentBuffer buffer, int available);

    /// <summary>Withdraws the published bytes, because their try has failed. Must not block.</summary>
    public abstract void Withdraw();

    /// <summary>Delivers the proved segment, which settles bytes read early. Takes over the caller's reference.</summary>
    public abstract void Complete(SegmentBuffer proved);

    public abstract void Fail(Exception failure);

    /// <inheritdoc cref="End"/>
    protected abstract void Ended();
}

/// <summary>Decides whether and when a load that met only faults is retried.</summary>
/// <remarks>Pure. Imports are not retried here, because their queue waits for providers in its own way.</remarks>
internal static class RetryPolicy
{
    // Enough for a connection that garbles replies now and then; each try is up to two requests to each provider.
    private const int TriesOfUselessReplies = 3;

    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Returns the pause before the next try, or null to give up. <paramref name="useless"/> counts tries with an unusable reply;
    /// <paramref name="elapsed"/> counts from the latest waiter.
    /// </summary>
    public static TimeSpan? DelayBeforeNext(NntpException fault, OperationLane lane, int tries, int useless, TimeSpan elapsed, TimeSpan longest)
    {
        if (!fault.IsTransient || lane != OperationLane.Playback || useless >= TriesOfUselessReplies || elapsed >= longest)
            return null;
        var delay = FirstDelay * (1 << Math.Min(tries - 1, 10));
        return delay < LongestDelay ? delay : LongestDelay;
    }
}
