using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// One load of a segment into memory. Tracks the waiters, the requests, retries and copies, and the bytes of each article as they arrive. A waiter may join at
/// any time and gets the bytes received so far. When the last waiter leaves, the load is abandoned, unless too little remains to save anything. Single use.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> serializes joins, leaves, arriving bytes and the end, and guards the list of waiters. It is held only briefly. Under <c>_gate</c>,
/// waiters publish early bytes without another lock. Waiters withdraw these bytes when a try fails, which acquires the locks of their debt and of the memory.
/// One thread at a time uses the article, the search and the doubtful copies, without <c>_gate</c>.
/// </remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source has nothing to dispose, and all else is given back when the load ends.")]
internal sealed class SegmentLoad : IArticleSink
{
    /// <summary>An unwanted article is finished if at most this many bytes are missing, because its connection would read them anyway.</summary>
    private const int WorthFinishing = 256 * 1024;

    // Applies at the edges of a file, which scanners reread: a finished segment is kept on disk.
    private const int WorthKeeping = 1024 * 1024;

    private const int RoundsPerCopy = 2;

    private static readonly TimeSpan FinishTimeout = TimeSpan.FromMilliseconds(250);

    // How long an article waits for another to show which evidence the file's articles carry. Then the article is confirmed on its own.
    private static readonly TimeSpan HabitWaitTimeout = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();
    private readonly SegmentFetcher _owner;
    private readonly PostedFile _file;

    // Used by RunAsync, and by the connection that delivers an article while RunAsync awaits it. The decoder is rented when an article starts to arrive,
    // because far more loads wait for a connection than decode.
    private ArticleDecoder? _decoder;
    private SegmentBuffer? _buffer;
    private ArticleVerdict _verdict;
    private int _provider;
    private bool _mayPublish;
    private bool _isUrgent;
    private bool _countsReload;
    private CopySearch? _search;
    private DoubtfulCopies? _doubtful;
    private KnownDamage? _known;
    private List<object>? _suspects;
    private int _tries = 1;
    private int _uselessTries;

    // RunAsync never fails. SegmentFetcher detects its end by counting the calls of Ended.
    private Task _run = Task.CompletedTask;

    // _gate guards this field and the fields below.
    private SegmentWaiter? _first;
    private ITimer? _finishing;
    private ReadBlocks? _reads;

    // Never disposed, because it holds no timer and no wait handle unless a caller asks for one.
    private CancellationTokenSource _cancel = new();
    private SegmentBuffer? _early;
    private int _available;
    private bool _hasBeenSeen;
    private int _arrived;
    private bool _hasStarted;
    private bool _isAbandoned;
    private bool _hasEnded;
    private long _joinedAt;

    /// <summary>Creates a load for its first waiter; waiters of other files may join. <paramref name="known"/> is null unless an earlier load failed.</summary>
    public SegmentLoad(SegmentFetcher owner, SegmentKey key, PostedFile file, OperationLane lane, FetchUrgency urgency, KnownDamage? known)
    {
        (_owner, Key, _file, Lane, Urgency, _known) = (owner, key, file, lane, urgency, known);
        _countsReload = IsAgain;
    }

    public SegmentKey Key { get; }

    public FileOrigin File => _file.Origin;

    public bool IsAgain => _known is not null;

    public int ArrivedBytes => Volatile.Read(ref _arrived);

    /// <summary>The urgency of the most urgent waiter.</summary>
    public FetchUrgency Urgency { get; }

    /// <summary>The most urgent lane of all waiters so far. Written under <c>_gate</c>.</summary>
    private OperationLane Lane { get; set; }

    private LoadServices Services => _owner.Services;

    private CopySearch Search => _search ??= new CopySearch(Key.Ids, Services.Source.ProviderCount, RoundsPerCopy);

    /// <summary>Cancels the current try, either for good or so that the next try uses a more urgent lane.</summary>
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
                // The last waiter stays in the list until the end, so that a closing stream can wait for all work done for it.
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

    public void Start(int provider)
    {
        (_decoder ??= Services.Decoders.Rent()).Reset();
        _provider = provider;
        _mayPublish = Services.Trust.IsTrusted(Services.Source.ProviderId(provider)) && Services.Trust.MayLeaveEarly(File, Services.Options);
        DiscardBytes();
        _buffer ??= new SegmentBuffer(Services.Blocks, Key.Segment.Length);
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = _decoder!.Decode(raw, _buffer!, out consumed);
        if (!ended && _decoder.HasHeader)
        {
            // Check the identity before the first byte: if the header belongs to another article, this try must not serve bytes early.
            _mayPublish = _mayPublish && SegmentEvidence.Identifies(_decoder.Header, Key.Segment, _file.Habit.Known);
            Publish(_buffer!, Math.Min(_buffer!.Written, Key.Segment.Length));
        }

        return ended;
    }

    // 0 while bytes are served early, because they are urgent. Otherwise a minimum, because each decoded byte takes at least one byte on the wire.
    public long StillToCome => _isUrgent || _decoder!.Header.PartLength is not { } length ? 0 : length - _decoder.Decoded;

    /// <summary>Judges the delivered article. Readers get no more bytes of a corrupt article.</summary>
    public SegmentProof Judge()
    {
        _verdict = ArticleVerdict.On(_decoder!.GetResult(), Key.Segment, _file, Services.Options.ChecksCrc);
        var proof = _verdict.Proof;

        // If the map may be wrong, the provider is not to blame.
        if (proof != SegmentProof.Refuting)
            Services.Trust.Judged(File, Services.Source.ProviderId(_provider), proof == SegmentProof.Corrupt);
        if (proof is SegmentProof.Corrupt or SegmentProof.Refuting)
            DiscardBytes();
        else if (proof == SegmentProof.Proved)
            _file.Habit.Learn(_verdict.Evidence.Shows(isConfirmed: false));
        return proof;
    }

    /// <summary>Releases the buffer and the decoder. No article is delivered after this call.</summary>
    public void Close()
    {
        // Detach first: the next call may release the last reference, after which no waiter may receive the buffer.
        Detach();
        ReleaseBuffer();
        if (_decoder is not null)
            Services.Decoders.Return(_decoder);
        _decoder = null;
    }

    /// <summary>Called once by the owner. Gives every waiter a reference to the verified buffer, or the failure. The caller keeps its own reference.</summary>
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
    /// Sends one request after another until a copy is verified, on its own or by a second copy with the same bytes. Also ends if the segment is gone or a
    /// retry is pointless. Never fails. Keeps few locals across awaits, because every load pays for their memory and most loads end with the first reply.
    /// </summary>
    private async Task RunAsync()
    {
        if (_known is { AskIn: var askIn } && askIn > TimeSpan.Zero)
            await WaitForSecondRequestAsync(askIn);
        while (true)
        {
            var token = Token;
            LoadStep step;
            try
            {
                token.ThrowIfCancellationRequested();
                var reply = await AskAsync(token);
                step = LoadStep.Answered(reply.IsFound && Judge() == SegmentProof.Proved ? TakeProved() : await WeighAsync(reply, token));
            }
            catch (NntpException) when (_search is { Round: 0, IsInDoubt: true })
            {
                // No other store can be reached now, so the next round asks the store that answered.
                _search.EndRound();
                step = LoadStep.Answered(null);
            }
            catch (NntpException fault) when (fault is { Fault: NntpFault.ArticleTooLarge, IsOfEveryProvider: true })
            {
                // The reply is a different article or never ends, so it counts as damaged.
                Search.ReportUseless();
                step = LoadStep.Answered(null);
            }
            catch (ArticleGoneException gone) when (gone.Loss == ArticleLoss.Corrupt)
            {
                step = Doubt(gone);
            }
            catch (NntpException fault)
            {
                step = DelayAfter(fault) is { } delay ? LoadStep.TryAgain(delay) : LoadStep.Failed(fault);
            }
            catch (OperationCanceledException) when (token != Token && !Volatile.Read(ref _isAbandoned))
            {
                // A waiter in a more urgent lane joined before any byte arrived, so the next try uses that lane.
                step = LoadStep.TryAgain(TimeSpan.Zero);
            }
            catch (Exception other)
            {
                step = LoadStep.Failed(other);
            }

            if (step.IsEnd)
            {
                _doubtful?.Dispose();
                Close();
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

    /// <summary>Connections to avoid, because they delivered unverified copies and another connection may deliver a better copy; null if none.</summary>
    private IReadOnlyCollection<object>? Avoided => _known is { Connections: { Count: > 0 } known } ? [.. known, .. _suspects ?? []] : _suspects;

    /// <summary>Records that the reply was not a verified copy. A copy without full evidence is compared with earlier copies.</summary>
    /// <remarks>If the verdict depends on the file's habit, another article may decide it in the meantime.</remarks>
    /// <returns>The segment's bytes if the copy is verified after all; otherwise null.</returns>
    /// <exception cref="MapRefutedException">The article claims another range and may be right.</exception>
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

        switch (_verdict.Proof)
        {
            case SegmentProof.Refuting:
                throw new MapRefutedException(SegmentEvidence.ClaimOf(_decoder!.GetResult(), Key.Segment)!.Value);
            case SegmentProof.Unconfirmed:
                var (doubtful, store) = (_doubtful ??= new DoubtfulCopies(), Services.Source.StoreOf(reply.Provider));
                if (doubtful.Confirm(_verdict.Checksum, search.Id, store, mayBeOfOne: search.Round > 0))
                {
                    _file.Habit.Learn(_verdict.Evidence.Shows(isConfirmed: true));
                    return TakeProved();
                }

                await LearnHabitAsync(doubtful, cancellationToken);
                if (_verdict.IsProvedBy(_file.Habit.Known, Services.Options.ChecksCrc))
                    return TakeProved();
                doubtful.Add(_verdict.Checksum, search.Id, reply.Provider);
                search.ReportDoubtful(reply.Provider, store);
                return null;
            default:
                StreamsLog.CorruptArticle(Services.Logger, Key.Segment.Index + 1, reply.Provider);
                search.ReportBad(reply.Provider);
                return null;
        }
    }

    /// <summary>If the verdict on the copy depends on the evidence that the file's other articles carry, waits until one of them arrives.</summary>
    private async ValueTask LearnHabitAsync(DoubtfulCopies doubtful, CancellationToken cancellationToken)
    {
        while (_verdict.HingesUpon(_file.Habit.Known, Services.Options.ChecksCrc) && !doubtful.TryClaimQuestion(_file.Habit, out var answer))
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

    /// <summary>Accepts the copy judged last and hands over the load's reference. Reports providers as corrupt if their copies had different bytes.</summary>
    private SegmentBuffer TakeProved()
    {
        foreach (var liar in _doubtful?.FindProvidersUnlike(_verdict.Checksum) ?? [])
            Services.Trust.Judged(File, Services.Source.ProviderId(liar), isCorrupt: true);
        Detach();
        CountReload();
        var (taken, decoder) = (_buffer!, _decoder!);
        taken.ClaimedLength = decoder.HasHeader ? decoder.Header.FileSize : null;
        _buffer = null;
        return taken;
    }

    /// <summary>
    /// Handles a request that delivered only damaged copies. A second request over other connections decides whether the segment is gone. Until then, readers
    /// without any bytes get an error, and readers whose response has begun wait.
    /// </summary>
    private LoadStep Doubt(ArticleGoneException gone)
    {
        var suspects = _suspects ?? [];
        if (_owner.ReportGarbled(this, suspects) is not { } askIn)
            return LoadStep.Failed(gone);

        // This was the second request, but one connection delivered both copies because no other was free. The next request must use another.
        if (_known is { Loss: ArticleLoss.Corrupt })
            suspects.ForEach(Services.Source.Distrust);
        _known = new KnownDamage(gone.Loss, IsBelieved: false, IsDoubt: true, askIn, suspects);
        var doubt = new ArticleDoubtedException(Key.Segment.Index, askIn);
        return askIn == TimeSpan.Zero || RefuseOptionalWaiters(doubt) ? LoadStep.AskLater(askIn) : LoadStep.Failed(doubt);
    }

    /// <summary>Fails the waiters whose readers have not received any bytes yet.</summary>
    /// <returns>False if no waiter is left. Then no waiter can join, and refused waiters get the error when the load ends.</returns>
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

    /// <summary>Waits until the second request is due, no matter how urgent the load becomes, or until the load is abandoned.</summary>
    private async Task WaitForSecondRequestAsync(TimeSpan rest)
    {
        // The duration includes a deliberate wait, so it must not count as the connection's speed.
        Urgency.WasLate = true;
        var since = Services.Time.GetTimestamp();
        while (rest - Services.Time.GetElapsedTime(since) is var left && left > TimeSpan.Zero && !Volatile.Read(ref _isAbandoned))
            await PauseAsync(left);
    }

    /// <summary>Returns the pause before the next try, or null if no retry makes sense.</summary>
    private TimeSpan? DelayAfter(NntpException fault)
    {
        // Measured from when the latest waiter joined, so that earlier waiters do not use up its retries.
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

    /// <summary>Makes the bytes decoded so far readable, if they may be served before verification.</summary>
    private void Publish(SegmentBuffer buffer, int count)
    {
        lock (_gate)
        {
            _hasStarted = true;
            _arrived = count;
            _isUrgent = false;
            if (!_mayPublish || count == 0)
                return;
            (_early, _available) = (buffer, count);
            for (var each = _first; each is not null; each = each.Next)
            {
                if (!each.IsEarly)
                    continue;
                _isUrgent = _hasBeenSeen = true;
                each.Publish(buffer, count);
            }
        }
    }

    /// <summary>Withdraws published bytes and empties the buffer, at the start of a try or after a failed try.</summary>
    private void DiscardBytes()
    {
        bool hadBeenSeen;
        lock (_gate)
        {
            hadBeenSeen = _hasBeenSeen;
            for (var each = hadBeenSeen ? _first : null; each is not null; each = each.Next)
                each.Withdraw();
            ClearPublished();
        }

        // A published buffer is never written again, because a reader may be copying from it.
        if (hadBeenSeen)
        {
            ReleaseBuffer();
            return;
        }

        CountReload();
        _buffer?.Rewind();
    }

    /// <summary>Detaches the buffer from the load; the published bytes stay valid.</summary>
    private void Detach()
    {
        lock (_gate)
            ClearPublished();
    }

    private void ReleaseBuffer()
    {
        CountReload();
        _buffer?.Release();
        _buffer = null;
    }

    private void CountReload()
    {
        if (_buffer is not { Written: > 0 } buffer)
            return;
        if (_countsReload)
            Services.Damage.LoadedAgain(File, buffer.Written);
        _countsReload = true;
    }

    // Requires _gate, like all methods below except GiveUp.
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
}
