using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Archives;

/// <summary>A predicted volume with its posted file, whose map is predicted too.</summary>
/// <param name="File">The posted file; its message-ids must stay readable as long as a proof may run.</param>
public readonly record struct PredictedFile(PredictedVolume Volume, PostedFile File);

/// <summary>Owns the predictions of sets and is notified when a prediction is verified or refuted.</summary>
/// <remarks>Called on any thread and without locks; must not block or throw.</remarks>
public interface IPredictionOwner
{
    /// <summary>These volumes are verified, so their predictions are no longer needed. Each volume is reported once.</summary>
    void OnProved(object key, IReadOnlyList<PredictedVolume> volumes);

    /// <summary>A volume of the set contradicts its prediction, so the release must be mapped again without predictions. Called once.</summary>
    void OnRefuted(object key);

    /// <summary>A reader waits for the heads of volumes that it does not read. Called once per set.</summary>
    void OnSought(object key);
}

/// <summary>Checks predicted volumes before any of their bytes are served, and remembers the results (IMP-52).</summary>
/// <remarks>
/// <para>
/// A volume matches if its first article claims the predicted file length, and its headers place the same file's data at the predicted offset.
/// That alone does not locate the data within the file, because the errors of earlier volumes may cancel out. So before serving a
/// volume, all predicted volumes before it or all after it are checked too, whichever are fewer. Volumes with a PAR2 length are exempt. Then all
/// lengths on one side are known, and so is the total. A reader that starts at the beginning or the end fetches one head per volume.
/// </para>
/// <para>
/// The heads on one side are fetched from the edge of the set inwards, a few at a time. So each head verifies its own volume for good even if the reader leaves
/// early, and other readers never wait for more than a few heads.
/// </para>
/// <para>Thread-safe; one per process. Fetches in lane Playback for readers, in lane HealthCheck for <see cref="BackgroundProof"/>.</para>
/// </remarks>
public sealed class PredictedVolumes
{
    // Enough to fill a fast line with high latency.
    private const int HeadsAtOnce = 16;

    private const int MaxSets = 1000;

    private readonly Lock _gate = new();
    private readonly AgingMap<object, SetProof> _sets;
    private readonly WaitingReaders _readers = new();
    private readonly IArticleSource _source;
    private readonly IPredictionOwner _owner;

    public PredictedVolumes(IArticleSource source, IPredictionOwner owner, TimeProvider time)
    {
        (_source, _owner) = (source, owner);
        _sets = new AgingMap<object, SetProof>(MaxSets, TimeSpan.FromDays(7), time);
    }

    /// <summary>Returns the proofs of a set, in the order of its predicted volumes.</summary>
    /// <param name="key">Identifies the set of this map; stable for the lifetime of the process.</param>
    /// <param name="files">All predicted volumes of the set in ascending order, including unread ones. Verified volumes may be omitted.</param>
    /// <param name="account">Pays for the heads that are fetched for the reader of these proofs; may be null.</param>
    public IReadOnlyList<IExtentProof> For(object key, IReadOnlyList<PredictedFile> files, ReaderAccount? account = null)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(files);
        var checker = new SetChecker(SetOf(key, files), files, new VolumeCheck(_source, VolumeCheck.ForReaders with { Account = account }));
        return [.. files.Select(file => new Proof(checker, file.Volume.Place, _readers))];
    }

    /// <summary>Returns the work left to verify a set that has no reader.</summary>
    /// <inheritdoc cref="For"/>
    public BackgroundProof InBackground(object key, IReadOnlyList<PredictedFile> files)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(files);
        return new BackgroundProof(new SetChecker(SetOf(key, files), files, new VolumeCheck(_source, VolumeCheck.ForBackground)), _readers);
    }

    private SetProof SetOf(object key, IReadOnlyList<PredictedFile> files)
    {
        IReadOnlyList<PredictedVolume> volumes = [.. files.Select(file => file.Volume)];
        lock (_gate)
        {
            if (_sets.TryGet(key, out var known, out _) && known.TryTake(volumes))
                return known;
            var set = new SetProof(key, volumes, _owner);
            _sets.Set(key, set);
            return set;
        }
    }

    private sealed class Proof(SetChecker checker, int place, WaitingReaders readers) : IExtentProof
    {
        private volatile bool _isProved;

        public bool IsProved => _isProved || (_isProved = checker.Set.IsProved(place));

        public async ValueTask ProveAsync(IPostedHeads? heads, Action? headArrived, CancellationToken cancellationToken)
        {
            var (near, far) = checker.Set.SidesOf(place);
            using var turn = near.Count > 0 ? readers.Enter() : null;
            var own = CheckAsync(place, heads, headArrived, cancellationToken);
            try
            {
                await Task.WhenAll(own, CheckAsync(near, headArrived, cancellationToken));
            }
            catch (ArticleGoneException) when (!own.IsFaulted)
            {
                // One side is enough, because a lost head on the near side says nothing about the wanted bytes.
                await CheckAsync(far, headArrived, cancellationToken);
            }
        }

        public async ValueTask ProveOwnAsync(IPostedHeads heads, CancellationToken cancellationToken) =>
            await CheckAsync(place, heads, null, cancellationToken);

        private Task CheckAsync(IReadOnlyList<int> side, Action? headArrived, CancellationToken cancellationToken) => Parallel.ForEachAsync(
            side,
            new ParallelOptions { MaxDegreeOfParallelism = HeadsAtOnce, CancellationToken = cancellationToken },
            async (other, token) => await CheckAsync(other, null, headArrived, token));

        private async Task CheckAsync(int other, IPostedHeads? heads, Action? headArrived, CancellationToken cancellationToken)
        {
            await checker.RunAsync(other, heads, isReader: true, cancellationToken);
            headArrived?.Invoke();
        }
    }
}

/// <summary>The remaining work to verify a set: one head for each volume whose length is predicted and not known from PAR2.</summary>
/// <remarks>For one worker at a time. Fetches in lane HealthCheck without backup providers, and yields to readers that wait for heads.</remarks>
public sealed class BackgroundProof
{
    private readonly SetChecker _checker;
    private readonly WaitingReaders _readers;

    internal BackgroundProof(SetChecker checker, WaitingReaders readers) => (_checker, _readers) = (checker, readers);

    /// <summary>Volumes not yet checked, in order.</summary>
    public IReadOnlyList<PredictedFile> Open => [.. _checker.Set.OpenPlaces().Select(_checker.FileAt)];

    /// <summary>Checks one volume of <see cref="Open"/> once no reader waits for heads. Fetches nothing if a reader has already checked it.</summary>
    /// <exception cref="RefutedExtentException">A volume of the set contradicts its prediction; the owner has been notified.</exception>
    /// <exception cref="ArticleGoneException">No permitted provider has the head intact.</exception>
    /// <exception cref="NntpException">No provider gave a final answer.</exception>
    public async Task LookAsync(PredictedVolume volume, CancellationToken cancellationToken)
    {
        await _readers.WhenNoneAsync(cancellationToken);
        await _checker.RunAsync(volume.Place, heads: null, isReader: false, cancellationToken);
    }
}

/// <summary>Checks the volumes of one set, using one caller's posted files. Thread-safe.</summary>
internal sealed class SetChecker(SetProof set, IReadOnlyList<PredictedFile> files, VolumeCheck check)
{
    private readonly Dictionary<int, PredictedFile> _files = files.ToDictionary(file => file.Volume.Place);

    public SetProof Set => set;

    public PredictedFile FileAt(int place) => _files[place];

    public Task RunAsync(int place, IPostedHeads? heads, bool isReader, CancellationToken cancellationToken) =>
        set.CheckAsync(place, token => check.IsTrueAsync(_files[place], heads, token), isReader, cancellationToken);
}

/// <summary>Counts readers that wait for heads of other volumes, so that background work lets them go first.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards both fields; no callback runs while it is held.</remarks>
internal sealed class WaitingReaders
{
    private readonly Lock _gate = new();
    private int _count;
    private TaskCompletionSource? _none;

    /// <summary>Counts a waiting reader until the result is disposed.</summary>
    public IDisposable Enter()
    {
        lock (_gate)
            _count++;
        return new Turn(this);
    }

    public Task WhenNoneAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_count == 0)
                return Task.CompletedTask;
            return (_none ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task.WaitAsync(cancellationToken);
        }
    }

    private void Leave()
    {
        TaskCompletionSource? none = null;
        lock (_gate)
        {
            if (--_count == 0)
                (none, _none) = (_none, null);
        }

        none?.SetResult();
    }

    private sealed class Turn(WaitingReaders readers) : IDisposable
    {
        public void Dispose() => readers.Leave();
    }
}

/// <summary>Checks one volume against its prediction, for readers or in the background.</summary>
internal sealed class VolumeCheck(IArticleSource source, ProbeOptions options)
{
    // More than headers with the longest file names need.
    private const int HeadBytes = 16 << 10;

    public static readonly ProbeOptions ForReaders = new() { Lane = OperationLane.Playback, HeadBytes = HeadBytes, TrailerPatience = TimeSpan.Zero };

    public static readonly ProbeOptions ForBackground = ForReaders with { Lane = OperationLane.HealthCheck, SparesBackups = true, TakesWholeArticles = true };

    /// <summary>Whether a volume matches its prediction. <paramref name="heads"/> may provide its first bytes without a fetch; may be null.</summary>
    /// <exception cref="ArticleGoneException">The head is missing at every provider.</exception>
    /// <exception cref="ArticleDoubtedException">Every provider that has the head returned it damaged.</exception>
    /// <exception cref="NntpException">No provider gave a final answer.</exception>
    public async Task<bool> IsTrueAsync(PredictedFile predicted, IPostedHeads? heads, CancellationToken cancellationToken)
    {
        // Bytes that a stream reads anyway can confirm a prediction. Only a separate fetch may refute one, because these bytes count as unverified.
        if (heads is not null && await heads.ReadHeadAsync(predicted.File, HeadBytes, cancellationToken) is { } read && await IsAsReadAsync(predicted, read, cancellationToken))
            return true;
        var unseen = new FileHead { Members = [0], Subject = default, Ids = predicted.File.Ids, State = HeadState.Skipped };
        var prober = new ReleaseProber(source, options);
        var head = (await prober.ContinueAsync([unseen], isWhole: false, cancellationToken))[0];
        if (head.State == HeadState.Found && await IsAsPredictedAsync(head))
            return true;

        // One provider may have a damaged copy, so a refutation needs verified bytes.
        head = await prober.ProveHeadAsync(unseen, cancellationToken);
        return head.State switch
        {
            HeadState.Found => await IsAsPredictedAsync(head),
            HeadState.Corrupt => throw new ArticleDoubtedException(0, TimeSpan.Zero),
            _ => throw new ArticleGoneException(ArticleLoss.Missing, 0),
        };

        async Task<bool> IsAsPredictedAsync(FileHead seen) =>
            seen.Map?.Equals(predicted.File.Map) == true && await RarExpectation.IsMetAsync(predicted.Volume, seen, cancellationToken);
    }

    private static async Task<bool> IsAsReadAsync(PredictedFile predicted, PostedHead read, CancellationToken cancellationToken)
    {
        var head = new FileHead { Members = [0], Subject = default, Ids = predicted.File.Ids, State = HeadState.Found, Map = predicted.File.Map, FirstBytes = read.Bytes };
        return read.ClaimedLength == predicted.File.Map.Length && await RarExpectation.IsMetAsync(predicted.Volume, head, cancellationToken);
    }
}

/// <summary>Encodes the expected headers of a predicted volume as a short text for the store.</summary>
internal static class RarExpectation
{
    /// <summary>Suffix for a volume whose posted length is known from PAR2.</summary>
    public const string KnownLength = "+";

    private const string LengthAlone = "length";

    public static PredictedVolume Of(RarVolume volume, int posted, int place, bool hasKnownLength)
    {
        var part = volume.Head!;
        return new PredictedVolume(posted, part.DataOffset, part.DataLength, 0, place, TextOf(volume, part) + (hasKnownLength ? KnownLength : ""));
    }

    /// <summary>Describes a piece without headers; only its length can be checked.</summary>
    public static string OfLength(bool hasKnownLength) => LengthAlone + (hasKnownLength ? KnownLength : "");

    public static async Task<bool> IsMetAsync(PredictedVolume expected, FileHead head, CancellationToken cancellationToken)
    {
        if (expected.Expected.StartsWith(LengthAlone, StringComparison.Ordinal))
            return true;
        try
        {
            var window = new HeaderWindow(new HeadInput(head.FirstBytes, head.Map!.Length), new ArchiveBudget());
            var volume = await RarVolumeReader.ReadAsync(window, new RarPasswords(new ArchiveKeys([], new KeyDeriver())), RarDepth.FirstFile, cancellationToken);
            return volume.Head is { IsSplitBefore: true, IsSplitAfter: true } part
                && (part.DataOffset, part.DataLength) == (expected.DataOffset, expected.DataLength)
                && expected.Expected.TrimEnd(KnownLength[0]) == TextOf(volume, part);
        }
        catch (ArchiveException)
        {
            // A file without the headers of its set contradicts the prediction.
            return false;
        }
    }

    private static string TextOf(RarVolume volume, RarPart part)
    {
        var identity = SHA256.HashData(Encoding.UTF8.GetBytes(part.Identity.ToString()));
        var number = volume.Format == ArchiveFormat.Rar5 ? volume.Number ?? 0 : 0;
        return string.Create(CultureInfo.InvariantCulture, $"{volume.Format} {number} {Convert.ToHexStringLower(identity.AsSpan(0, 16))}");
    }

    /// <summary>The first bytes of a volume; reading beyond them fails.</summary>
    private sealed class HeadInput(ReadOnlyMemory<byte> head, long length) : IArchiveInput
    {
        public long Length => length;

        public ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
        {
            if (offset + buffer.Length > head.Length)
                throw new ArchiveException(ArchiveFault.Broken, "its headers are longer than those of the others");
            head.Slice((int)offset, buffer.Length).CopyTo(buffer);
            return ValueTask.CompletedTask;
        }
    }
}
