namespace Sluice.Usenet.Nntp;

/// <summary>A reader as its fetches see it.</summary>
internal interface IChargedReader
{
    /// <summary>Pays for the fetches that begin for this reader; null if they count for their lane alone.</summary>
    ReaderAccount? Account { get; }
}

/// <summary>What a reader cost.</summary>
/// <param name="Memory">Bytes of segments that memory had when the reader requested them.</param>
/// <param name="Disk">Bytes of segments that the disk had.</param>
/// <param name="Providers">Bytes received for the reader, without the overhead of TLS; providers without any are absent.</param>
public sealed record AccountBytes(long Memory, long Disk, IReadOnlyDictionary<Guid, long> Providers)
{
    public static AccountBytes None { get; } = new(0, 0, new Dictionary<Guid, long>());

    public long Received => Providers.Values.Sum();

    /// <summary>Whether nothing has moved since an earlier state of the same account.</summary>
    public bool IsAs(AccountBytes earlier) => (Memory, Disk, Received) == (earlier.Memory, earlier.Disk, earlier.Received);

    public static AccountBytes operator +(AccountBytes left, AccountBytes right)
    {
        var providers = left.Providers.ToDictionary();
        foreach (var (provider, bytes) in right.Providers)
            providers[provider] = providers.GetValueOrDefault(provider) + bytes;
        return new AccountBytes(left.Memory + right.Memory, left.Disk + right.Disk, providers);
    }
}

/// <summary>
/// The account of a reader, or of several streams of one reader (OPS-43). <see cref="ProviderTraffic"/> charges it for each fetch that the reader
/// started, with all attempts, even if the article is never read. Readers that join a fetch pay nothing.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards everything and takes no other lock. The lane of a provider changes under it, so that the accounts of a lane always
/// add up to the lane. Charging allocates only for the first bytes of a provider.
/// </remarks>
public sealed class ReaderAccount(TrafficLane lane = TrafficLane.Undecided)
{
    private readonly Lock _gate = new();
    private readonly List<Share> _shares = [];
    private TrafficLane _lane = lane;
    private bool _isClosed;
    private long _memory;
    private long _disk;

    public AccountBytes Bytes
    {
        get
        {
            lock (_gate)
                return new AccountBytes(_memory, _disk, _shares.ToDictionary(static share => share.Traffic.Provider, static share => share.Bytes));
        }
    }

    /// <summary>The lane for the bytes of fetches whose reader says nothing else.</summary>
    public static TrafficLane LaneOf(OperationLane lane) => lane switch
    {
        OperationLane.Playback => TrafficLane.Playback,
        OperationLane.Import => TrafficLane.Import,
        _ => TrafficLane.Checks,
    };

    /// <summary>Decides for what the bytes were received, those until now included. Only the first call counts.</summary>
    public void Decide(TrafficLane decided)
    {
        lock (_gate)
        {
            if (_lane != TrafficLane.Undecided)
                return;
            _lane = decided;
            foreach (var share in _shares)
            {
                share.Traffic.Add(TrafficLane.Undecided, -share.Bytes);
                share.Traffic.Add(decided, share.Bytes);
            }
        }
    }

    /// <summary>Ends the account. Later bytes, such as the rest of a canceled article, count as other traffic, so that the account stays final.</summary>
    public AccountBytes Close()
    {
        lock (_gate)
            _isClosed = true;
        return Bytes;
    }

    internal void Charge(ProviderTraffic traffic, long bytes)
    {
        lock (_gate)
        {
            if (_isClosed)
            {
                traffic.Add(TrafficLane.Other, bytes);
                return;
            }

            traffic.Add(_lane, bytes);
            foreach (var share in _shares)
            {
                if (share.Traffic != traffic)
                    continue;
                share.Bytes += bytes;
                return;
            }

            _shares.Add(new Share(traffic) { Bytes = bytes });
        }
    }

    internal void AddFromMemory(long bytes)
    {
        lock (_gate)
            _memory += bytes;
    }

    internal void AddFromDisk(long bytes)
    {
        lock (_gate)
            _disk += bytes;
    }

    private sealed class Share(ProviderTraffic traffic)
    {
        public ProviderTraffic Traffic => traffic;

        public long Bytes { get; set; }
    }
}

/// <summary>For what received bytes count: the account of a reader, or a lane if no reader is known.</summary>
internal readonly record struct Payer(TrafficLane Lane, ReaderAccount? Account = null)
{
    public static Payer Other => new(TrafficLane.Other);

    public static Payer Of(in ArticleRequest request) => new(ReaderAccount.LaneOf(request.Lane), request.Urgency?.Account);
}
