using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// One way of a segment into memory: the waiters that it serves, and the questions, retries and copies that it takes. A waiter may join
/// at any time and gets the bytes that are there. When the last waiter leaves, the load is given up, unless it is so nearly done that
/// giving it up would save nothing. Made for one load and forgotten after it.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> orders joining, leaving, the arrival of bytes and the end, and guards the list of waiters; it is held for
/// moments. Below it waiters publish early bytes, which takes no lock, and withdraw them when a try has broken off, which takes the lock of
/// their debt and those of the memory that its buffer goes back to. The sink, the search and the doubtful copies are touched by one thread at
/// a time, without the gate.
/// </remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source has nothing to dispose, and all else is given back when the load ends.")]
internal sealed class SegmentLoad : IArticleSink
{
    /// <summary>With no more than this to come, an unwanted article is let in: its connection would read it to the end anyway.</summary>
    private const int WorthFinishing = 256 * 1024;

    // At the edges of a file, where scanners come again and again, a segment is worth more: it is kept on disk.
    private const int WorthKeeping = 1024 * 1024;

    private const int RoundsPerCopy = 2;

    private static readonly TimeSpan LongestFinish = TimeSpan.FromMilliseconds(250);

    // For so long one article waits until another has shown what its file carries; then it is confirmed by itself.
    private static readonly TimeSpan HabitPatience = TimeSpan.FromSeconds(2);

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

    // RunAsync, which never fails: SegmentFetcher waits for its end by counting the calls of Ended.
    private Task _run = Task.CompletedTask;

    // Guarded by the gate, like the fields below.
    private SegmentWaiter? _first;
    private ITimer? _finishing;
    private ReadBlocks? _reads;

    // Has neither timer nor handle unless a caller asks for one, so it is left to the collector.
    private CancellationTokenSource _cancel = new();
    private SegmentBuffer? _early;
    private int _available;
    private bool _hasBeenSeen;
    private int _arrived;
    private bool _hasStarted;
    private bool _isAbandoned;
    private bool _hasEnded;
    private long _joinedAt;

    /// <param name="owner">Told of the end, once.</param>
    /// <param name="key">The segment.</param>
    /// <param name="file">The posted file for which it is loaded; others that have the same segment share its fate.</param>
    /// <param name="lane">Why.</param>
    /// <param name="urgency">Of the first waiter; rises with that of any other.</param>
    /// <param name="known">What is known against the segment; null if it was never loaded in vain.</param>
    public SegmentLoad(SegmentFetcher owner, SegmentKey key, PostedFile file, OperationLane lane, FetchUrgency urgency, KnownDamage? known)
    {
        (_owner, Key, _file, Lane, Urgency, _known) = (owner, key, file, lane, urgency, known);
        _sink = new SegmentSink(this);
    }

    /// <summary>What all loads share.</summary>
    public LoadServices Services => _owner.Services;

    /// <summary>The segment.</summary>
    public SegmentKey Key { get; }

    /// <summary>The file for which it is loaded.</summary>
    public FileOrigin File => _file.Origin;

    /// <summary>Told when an article contradicts the map of the file; null: such an article is damaged like any other.</summary>
    public IMapCorrection? Correction => _file.Correction;

    /// <summary>What the articles of the file carry.</summary>
    public FileHabit Habit => _file.Habit;

    /// <summary>Whether the segment was loaded before, in vain.</summary>
    public bool IsAgain => _known is not null;

    /// <summary>Decoded bytes that have come, for those who look on.</summary>
    public int ArrivedBytes => Volatile.Read(ref _arrived);

    /// <summary>How urgent the load is: as urgent as its most urgent waiter.</summary>
    public FetchUrgency Urgency { get; }

    /// <summary>The most urgent lane of all waiters that have joined. Written under the gate.</summary>
    private OperationLane Lane { get; set; }

    private CopySearch Search => _search ??= new CopySearch(Key.Ids, Services.Source.ProviderCount, RoundsPerCopy);

    /// <summary>Ends the present try: for good, or so that the next one goes in a more urgent lane.</summary>
    private CancellationToken Token => Volatile.Read(ref _cancel).Token;

    /// <summary>Begins, once the first waiter has joined. The owner is told of the end, perhaps before this returns.</summary>
    public void Begin() => _run = RunAsync();

    /// <summary>One more waiter, which is given the early bytes that are there already.</summary>
    /// <returns>False when the load has ended or was given up.</returns>
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

    /// <summary>Makes the load as urgent as a waiter that has joined.</summary>
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

    /// <summary>A waiter does not wait any more. Nothing happens when it has left before, or the load has ended.</summary>
    public void Leave(SegmentWaiter waiter)
    {
        CancellationTokenSource? unwanted = null;
        lock (_gate)
        {
            if (_first == waiter && waiter.Next is null && !IsWorthFinishing(waiter))
            {
                // The last waiter stays in the list until the end, so that a stream which is closed knows that nothing is under way for it.
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
                _finishing = Services.Time.CreateTimer(static state => ((SegmentLoad)state!).GiveUp(), this, LongestFinish, Timeout.InfiniteTimeSpan);
            }
        }

        if (unwanted is null)
            waiter.End();
        else
            unwanted.Cancel();
    }

    /// <summary>Gives the load up, whether or not there are waiters.</summary>
    public void Abandon()
    {
        lock (_gate)
            _isAbandoned = true;
        _cancel.Cancel();
    }

    /// <summary>By the sink: a try begins, or has turned out worthless. The bytes that were published of the last one are withdrawn.</summary>
    /// <returns>Whether a waiter has seen the buffer of the last one, so that it must never be written again.</returns>
    public bool Retract()
    {
        lock (_gate)
        {
            var hadBeenSeen = _hasBeenSeen;
            for (var each = hadBeenSeen ? _first : null; each is not null; each = each.Next)
                each.Withdraw();
            Forget();
            return hadBeenSeen;
        }
    }

    /// <summary>By the sink: the buffer leaves the sink; the bytes that were published of it stand.</summary>
    public void Detach()
    {
        lock (_gate)
            Forget();
    }

    /// <summary>By the sink: this many bytes have been decoded.</summary>
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

    /// <summary>By the owner, once: every waiter gets a count of the proved buffer, or is told why there is none. The caller keeps its count.</summary>
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
    /// Asks one question after the other until a copy is proved, by itself or because it has the bytes of another one, or until the segment
    /// is proved gone, or no further try makes sense. Never fails. Keeps little over its waits, because that is memory of every load: most
    /// end with the first answer.
    /// </summary>
    private async Task RunAsync()
    {
        if (_known is { AskIn: var askIn } && askIn > TimeSpan.Zero)
            await RestAsync(askIn);
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
                // Another store cannot be asked now. The store that has answered can.
                _search.EndRound();
                step = Step.Answered(null);
            }
            catch (NntpException fault) when (fault is { Fault: NntpFault.ArticleTooLarge, IsOfEveryProvider: true })
            {
                // Another article, or one without an end: as damaged as can be.
                Search.Useless();
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
                // A more urgent lane has joined before any byte had arrived: the next try goes in that lane.
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
                await RestAsync(rest);
                _doubtful?.Dispose();
                (_tries, _uselessTries, _search, _doubtful, _suspects) = (1, 0, null, null, null);
            }
        }
    }

    /// <summary>Asks the next question of the search; the first one where there is no search yet.</summary>
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

    /// <summary>The connections over which copies came that were not proved; another one may bring a better copy. Null for none.</summary>
    private IReadOnlyCollection<object>? Avoided => _known is { Connections: { Count: > 0 } known } ? [.. known, .. _suspects ?? []] : _suspects;

    /// <summary>
    /// Notes in the search that the answer was no proved copy. One that lacks evidence is compared with those before it; where it depends
    /// upon the habit of the file, another article may show that meanwhile.
    /// </summary>
    /// <returns>The bytes of the segment if the copy is proved after all; else null.</returns>
    /// <exception cref="MapRefutedException">The article lies elsewhere, which may be right.</exception>
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
                search.Doubtful(reply.Provider, store);
                return null;
            default:
                StreamsLog.CorruptArticle(Services.Logger, Key.Segment.Index + 1, reply.Provider);
                search.Bad(reply.Provider);
                return null;
        }
    }

    /// <summary>Where the copy depends upon the habit of the file, waits for what another article shows about that.</summary>
    private async ValueTask LearnHabitAsync(DoubtfulCopies doubtful, CancellationToken cancellationToken)
    {
        while (_sink.HingesUponHabit && !doubtful.AsksAbout(Habit, out var answer))
        {
            try
            {
                await answer.WaitAsync(HabitPatience, Services.Time, cancellationToken);
            }
            catch (TimeoutException)
            {
                return;
            }
        }
    }

    /// <summary>The copy that was judged last is the segment. A provider whose unconfirmed copy had other bytes has lied.</summary>
    private SegmentBuffer TakeProved()
    {
        foreach (var liar in _doubtful?.Liars(_sink.Checksum) ?? [])
            Services.Trust.Judged(File, Services.Source.ProviderId(liar), isCorrupt: true);
        return _sink.Take();
    }

    /// <summary>
    /// All copies came damaged. A second question decides, over other connections; until then readers that have nothing yet are told so, and
    /// those whose answer has begun wait.
    /// </summary>
    private Step Doubt(ArticleGoneException gone)
    {
        var suspects = _suspects ?? [];
        if (_owner.ReportGarbled(this, suspects) is not { } askIn)
            return Step.Failed(gone);

        // It was the second question, and some connection brought both copies because there was no other: the next one will be another.
        if (_known is { Loss: ArticleLoss.Corrupt })
            suspects.ForEach(Services.Source.Distrust);
        _known = new KnownDamage(gone.Loss, IsBelieved: false, IsDoubt: true, askIn, suspects);
        var doubt = new ArticleDoubtedException(Key.Segment.Index, askIn);
        return askIn == TimeSpan.Zero || RefuseThoseThatNeedNotWait(doubt) ? Step.AskLater(askIn) : Step.Failed(doubt);
    }

    /// <summary>Ends the waits of readers that have nothing yet.</summary>
    /// <returns>False if no waiter is left: no waiter joins any more, and those that there were are told at the end of the load.</returns>
    private bool RefuseThoseThatNeedNotWait(ArticleDoubtedException doubt)
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

    /// <summary>Waits for the time of the second question, however urgent the load becomes meanwhile, or until the load is given up.</summary>
    private async Task RestAsync(TimeSpan rest)
    {
        // How long the segment takes says nothing about the line.
        Urgency.WasLate = true;
        var since = Services.Time.GetTimestamp();
        while (rest - Services.Time.GetElapsedTime(since) is var left && left > TimeSpan.Zero && !Volatile.Read(ref _isAbandoned))
            await PauseAsync(left);
    }

    /// <summary>The pause after a try that met a fault; null where no further try makes sense.</summary>
    private TimeSpan? DelayAfter(NntpException fault)
    {
        // The waiter that joined last has waited least: none is refused because others waited before.
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
            // A waiter in a more urgent lane does not wait for the end of the pause, and the next try of an abandoned load ends at once.
        }
    }

    // This and what follows under the gate, but for GiveUp.
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

    private void Forget() => (_early, _available, _arrived, _hasBeenSeen) = (null, 0, 0, false);

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

    /// <summary>What one question has come to: the end of the load, a further try after a pause, a new search later, or the next question of this one.</summary>
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
/// A place in a reader's window that a load serves: what the loading of a segment knows of its reader. The load calls
/// <see cref="Publish"/>, <see cref="Withdraw"/>, <see cref="Complete"/> and <see cref="Fail"/>, one at a time, and <see cref="End"/> last.
/// </summary>
/// <remarks>Thread-safe: <see cref="Leave"/> may come from another thread at any time.</remarks>
internal abstract class SegmentWaiter(Piece piece, FetchUrgency urgency, bool isEarly)
{
    /// <summary>The next in the list of its load, under the gate of that.</summary>
    public SegmentWaiter? Next;

    private SegmentLoad? _load;
    private bool _hasLeft;

    /// <summary>The segment, and the slice of it that is read.</summary>
    public Piece Piece => piece;

    /// <summary>How urgently it is wanted; may rise later.</summary>
    public FetchUrgency Urgency => urgency;

    /// <summary>Whether bytes may be published before they are proved. Written before the waiter joins a load.</summary>
    public bool IsEarly { get; set; } = isEarly;

    /// <summary>Notes which bytes are read, where they are to be kept on disk; written before any byte can be read.</summary>
    public ReadBlocks? Reads { get; set; }

    /// <summary>The work before a load where the segment's ids or the disk have to be read first. Never fails; ended when the waiter is.</summary>
    public Task Preparation { get; set; } = Task.CompletedTask;

    /// <summary>
    /// Whether it waits for the second question after damaged copies. If not, its reader has had nothing yet and is told that the article is
    /// in doubt: its client can come back.
    /// </summary>
    public virtual bool MustWait => true;

    /// <summary>Whether the waiter does not wait any more.</summary>
    public bool HasLeft => Volatile.Read(ref _hasLeft);

    /// <summary>Where its bytes lie in the file that is read; empty where that is not known.</summary>
    public virtual Stretch Place => new(piece.Begin, piece.Length);

    /// <summary>Decoded bytes that have come, for those who look on.</summary>
    public int ArrivedBytes => Volatile.Read(ref _load)?.ArrivedBytes ?? 0;

    /// <summary>Whether a load has begun for this waiter, and not for another one before it: how long it took says how long the line is.</summary>
    public bool BeganLoad => Volatile.Read(ref _load)?.Urgency == urgency;

    /// <summary>By the load, under its gate. Raising the urgency of the waiter raises that of a load which others have begun.</summary>
    public void Join(SegmentLoad load)
    {
        if (urgency != load.Urgency)
            urgency.Follow(load.Urgency);

        // Full fence between this write and the owner's read of HasLeft: a waiter that leaves just now either finds the load to leave or
        // is found to have left.
        Interlocked.Exchange(ref _load, load);
    }

    /// <summary>The waiter does not wait any more. Nothing happens when its load has ended.</summary>
    public void Leave()
    {
        Interlocked.Exchange(ref _hasLeft, true);
        Volatile.Read(ref _load)?.Leave(this);
    }

    /// <summary>Once, after everything else: nothing is under way for the waiter any more.</summary>
    public void End()
    {
        if (_load is { } load)
            urgency.Unfollow(load.Urgency);
        Ended();
    }

    /// <summary>Blocks that were proved before may be read. Takes over the caller's count.</summary>
    /// <returns>Ends when the reader wants the rest; cancelled when it has done without.</returns>
    public abstract Task Lend(SegmentBuffer blocks);

    /// <summary>This many bytes of the buffer may be read while the rest arrives. Must not block.</summary>
    public abstract void Publish(SegmentBuffer buffer, int available);

    /// <summary>The try that published has broken off, nothing more of it may be read. Must not block.</summary>
    public abstract void Withdraw();

    /// <summary>The segment is proved, which settles the bytes that were read before. Takes over the caller's count.</summary>
    public abstract void Complete(SegmentBuffer proved);

    /// <summary>The segment cannot be had.</summary>
    public abstract void Fail(Exception failure);

    /// <inheritdoc cref="End"/>
    protected abstract void Ended();
}

/// <summary>Decides whether a load that met nothing but faults is worth another try, and when.</summary>
/// <remarks>Pure. Imports are not tried again here: their queue waits for providers in its own way.</remarks>
internal static class RetryPolicy
{
    // A line that is garbled now and then is worth as many; each of them is two questions to each provider.
    private const int TriesOfUselessReplies = 3;

    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(2);

    /// <summary>The pause before the next try.</summary>
    /// <param name="fault">What went wrong.</param>
    /// <param name="lane">Why the article is fetched.</param>
    /// <param name="tries">Tries so far, at least 1.</param>
    /// <param name="useless">Those of them that brought a reply of no use.</param>
    /// <param name="elapsed">Time since the first of them began.</param>
    /// <param name="longest">For how long playback is tried again.</param>
    /// <returns>Null when it is time to give up.</returns>
    public static TimeSpan? DelayBeforeNext(NntpException fault, OperationLane lane, int tries, int useless, TimeSpan elapsed, TimeSpan longest)
    {
        if (!fault.IsTransient || lane != OperationLane.Playback || useless >= TriesOfUselessReplies || elapsed >= longest)
            return null;
        var delay = FirstDelay * (1 << Math.Min(tries - 1, 10));
        return delay < LongestDelay ? delay : LongestDelay;
    }
}
