using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>A predicted volume with its posted file, whose map is predicted too.</summary>
/// <param name="Volume">What was predicted.</param>
/// <param name="File">The posted file; its ids have to stay readable as long as a proof of it is asked for.</param>
public readonly record struct PredictedFile(PredictedVolume Volume, PostedFile File);

/// <summary>Owns the predictions of sets, and learns what looking into their volumes has shown.</summary>
/// <remarks>Called on any thread, under no lock; must not block or throw.</remarks>
public interface IPredictionOwner
{
    /// <summary>Nothing has to be asked any more before bytes of these volumes leave: they need no prediction. Each is named once.</summary>
    void OnProved(object key, IReadOnlyList<PredictedVolume> volumes);

    /// <summary>A volume of the set is not as predicted: its release has to be mapped again, without predictions. Called once.</summary>
    void OnRefuted(object key);

    /// <summary>A reader waits for heads of other volumes than the one that it reads. Called once for a set.</summary>
    void OnSought(object key);
}

/// <summary>Looks into predicted volumes before any of their bytes leave, and remembers what it has found (IMP-52).</summary>
/// <remarks>
/// <para>
/// A volume is as predicted if its first article claims the length that was predicted for the posted file, and its headers have the data of the
/// same file at the same place. That alone does not say where in the file this data belongs: volumes before it may be longer and shorter so
/// that the sum comes out right. So before a byte of a volume leaves, all predicted volumes before it or all behind it are looked into as well,
/// whichever are fewer; those whose posted length PAR2 tells are spared. Then every length on one side is known, and the whole is known to be
/// the sum. A reader that goes forward from the beginning, or looks at the end, asks for one head per volume.
/// </para>
/// <para>
/// Heads of a side are fetched from the edge of the set inwards, a few at a time. So each head that arrives proves its own volume for good, even
/// if the reader leaves before the last one, and other viewers never wait behind more than a few.
/// </para>
/// <para>Thread-safe; one per process. Fetches in lane Playback for readers, in lane HealthCheck for <see cref="BackgroundProof"/>.</para>
/// </remarks>
public sealed class PredictedVolumes
{
    /// <summary>Heads of a side that are fetched at once: enough for a fast line and a long way.</summary>
    private const int HeadsAtOnce = 16;

    private const int MaxSets = 1000;

    private readonly Lock _gate = new();
    private readonly AgingMap<object, SetProof> _sets;
    private readonly WaitingReaders _readers = new();
    private readonly IArticleSource _source;
    private readonly IPredictionOwner _owner;

    /// <summary>Creates it.</summary>
    /// <param name="source">Where heads come from; not owned.</param>
    /// <param name="owner">Learns what is found.</param>
    /// <param name="time">Clock of what is remembered.</param>
    public PredictedVolumes(IArticleSource source, IPredictionOwner owner, TimeProvider time)
    {
        (_source, _owner) = (source, owner);
        _sets = new AgingMap<object, SetProof>(MaxSets, TimeSpan.FromDays(7), time);
    }

    /// <summary>The proofs of a set, one for each of its predicted volumes in the same order.</summary>
    /// <param name="key">Equal for the same set of the same map as long as the process runs.</param>
    /// <param name="files">
    /// All predicted volumes of the set by rising place, including volumes of which no byte is read. Volumes that the owner knows to be proved may
    /// be left out.
    /// </param>
    public IReadOnlyList<IExtentProof> For(object key, IReadOnlyList<PredictedFile> files)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(files);
        var look = new VolumeLook(SetOf(key, files), files, new VolumeCheck(_source, VolumeCheck.ForReaders));
        return [.. files.Select(file => new Proof(look, file.Volume.Place, _readers))];
    }

    /// <summary>The work that is left to prove a set for good, without a reader.</summary>
    /// <inheritdoc cref="For"/>
    public BackgroundProof InBackground(object key, IReadOnlyList<PredictedFile> files)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(files);
        return new BackgroundProof(new VolumeLook(SetOf(key, files), files, new VolumeCheck(_source, VolumeCheck.ForBackground)), _readers);
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

    private sealed class Proof(VolumeLook look, int place, WaitingReaders readers) : IExtentProof
    {
        private volatile bool _isProved;

        public bool IsProved => _isProved || (_isProved = look.Set.IsProved(place));

        public async ValueTask ProveAsync(IPostedHeads? heads, Action? headArrived, CancellationToken cancellationToken)
        {
            var (near, far) = look.Set.SidesOf(place);
            using var turn = near.Count > 0 ? readers.Enter() : null;
            var own = LookAsync(place, heads, headArrived, cancellationToken);
            try
            {
                await Task.WhenAll(own, LookAsync(near, headArrived, cancellationToken));
            }
            catch (ArticleGoneException) when (!own.IsFaulted)
            {
                // One side is enough: a lost head there says nothing about the bytes that the reader wants.
                await LookAsync(far, headArrived, cancellationToken);
            }
        }

        public async ValueTask ProveOwnAsync(IPostedHeads heads, CancellationToken cancellationToken) =>
            await LookAsync(place, heads, null, cancellationToken);

        private Task LookAsync(IReadOnlyList<int> side, Action? headArrived, CancellationToken cancellationToken) => Parallel.ForEachAsync(
            side,
            new ParallelOptions { MaxDegreeOfParallelism = HeadsAtOnce, CancellationToken = cancellationToken },
            async (other, token) => await LookAsync(other, null, headArrived, token));

        private async Task LookAsync(int other, IPostedHeads? heads, Action? headArrived, CancellationToken cancellationToken)
        {
            await look.RunAsync(other, heads, isReader: true, cancellationToken);
            headArrived?.Invoke();
        }
    }
}

/// <summary>The work that is left to prove a set for good: one head for each volume whose length was predicted and not told.</summary>
/// <remarks>For one worker at a time. Fetches in lane HealthCheck, from no backup provider, and begins nothing while a reader waits for heads.</remarks>
public sealed class BackgroundProof
{
    private readonly VolumeLook _look;
    private readonly WaitingReaders _readers;

    internal BackgroundProof(VolumeLook look, WaitingReaders readers) => (_look, _readers) = (look, readers);

    /// <summary>The volumes that nothing has looked into yet, from the first to the last.</summary>
    public IReadOnlyList<PredictedFile> Open => [.. _look.Set.OpenPlaces().Select(_look.FileAt)];

    /// <summary>Looks into one volume, once no reader waits for heads. Costs nothing if a reader was faster.</summary>
    /// <param name="volume">One of <see cref="Open"/>.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="RefutedExtentException">A volume of the set is not as predicted; the owner knows.</exception>
    /// <exception cref="ArticleGoneException">No provider that may be asked has its head intact.</exception>
    /// <exception cref="NntpException">Nothing can be said at present.</exception>
    public async Task LookAsync(PredictedVolume volume, CancellationToken cancellationToken)
    {
        await _readers.WhenNoneAsync(cancellationToken);
        await _look.RunAsync(volume.Place, heads: null, isReader: false, cancellationToken);
    }
}

/// <summary>Looks into the volumes of one set by the posted files of one opening.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class VolumeLook(SetProof set, IReadOnlyList<PredictedFile> files, VolumeCheck check)
{
    private readonly Dictionary<int, PredictedFile> _files = files.ToDictionary(file => file.Volume.Place);

    public SetProof Set => set;

    public PredictedFile FileAt(int place) => _files[place];

    public Task RunAsync(int place, IPostedHeads? heads, bool isReader, CancellationToken cancellationToken) =>
        set.LookAsync(place, token => check.IsTrueAsync(_files[place], heads, token), isReader, cancellationToken);
}

/// <summary>The readers that wait for heads of other volumes than their own: work in the background lets them go first.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards both fields; nothing is called under it.</remarks>
internal sealed class WaitingReaders
{
    private readonly Lock _gate = new();
    private int _count;
    private TaskCompletionSource? _none;

    /// <summary>A reader waits until the result is disposed.</summary>
    public IDisposable Enter()
    {
        lock (_gate)
            _count++;
        return new Turn(this);
    }

    /// <summary>Waits until no reader waits.</summary>
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

/// <summary>Looks into one volume.</summary>
/// <param name="source">Where its head comes from; not owned.</param>
/// <param name="options">On whose behalf: <see cref="ForReaders"/> or <see cref="ForBackground"/>.</param>
internal sealed class VolumeCheck(IArticleSource source, ProbeOptions options)
{
    // Longer than headers with the longest names of films are.
    private const int HeadBytes = 16 << 10;

    public static readonly ProbeOptions ForReaders = new() { Lane = OperationLane.Playback, HeadBytes = HeadBytes, TrailerPatience = TimeSpan.Zero };

    public static readonly ProbeOptions ForBackground = ForReaders with { Lane = OperationLane.HealthCheck, SparesBackups = true, TakesWholeArticles = true };

    /// <summary>Whether a volume is as predicted.</summary>
    /// <param name="predicted">The volume.</param>
    /// <param name="heads">Where its beginning may be had without a fetch; null: nowhere.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="ArticleGoneException">Its head is gone at every provider.</exception>
    /// <exception cref="ArticleDoubtedException">Its head came damaged from every provider that has it.</exception>
    /// <exception cref="NntpException">Nothing can be said.</exception>
    public async Task<bool> IsTrueAsync(PredictedFile predicted, IPostedHeads? heads, CancellationToken cancellationToken)
    {
        // What a stream reads anyway can say that the volume is as predicted; that it is not, an article says that is asked for that alone.
        if (heads is not null && await heads.ReadHeadAsync(predicted.File, HeadBytes, cancellationToken) is { } read && await IsAsReadAsync(predicted, read, cancellationToken))
            return true;
        var unseen = new FileHead { Members = [0], Subject = default, Ids = predicted.File.Ids, State = HeadState.Skipped };
        var prober = new ReleaseProber(source, options);
        var head = (await prober.ContinueAsync([unseen], isWhole: false, cancellationToken))[0];
        if (head.State == HeadState.Found && await IsAsPredictedAsync(head))
            return true;

        // Its beginning may be damaged at one provider: the verdict is spoken over proved bytes.
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

/// <summary>What the headers of a predicted volume have to say besides where the data lies: as a text that a store can keep.</summary>
internal static class RarExpectation
{
    /// <summary>Ends the text of a volume whose posted length PAR2 told.</summary>
    public const string KnownLength = "+";

    private const string LengthAlone = "length";

    /// <summary>Describes a volume that was predicted.</summary>
    /// <param name="volume">The volume.</param>
    /// <param name="posted">Index of the posted file.</param>
    /// <param name="place">Its place in the set.</param>
    /// <param name="hasKnownLength">Whether its posted length was told by PAR2.</param>
    public static PredictedVolume Of(RarVolume volume, int posted, int place, bool hasKnownLength)
    {
        var part = volume.Head!;
        return new PredictedVolume(posted, part.DataOffset, part.DataLength, 0, place, TextOf(volume, part) + (hasKnownLength ? KnownLength : ""));
    }

    /// <summary>Describes a piece without headers, of which the length is all that can be seen.</summary>
    public static string OfLength(bool hasKnownLength) => LengthAlone + (hasKnownLength ? KnownLength : "");

    /// <summary>Whether a volume is what it has to be.</summary>
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
            // What does not begin as a volume of its set is not as predicted.
            return false;
        }
    }

    private static string TextOf(RarVolume volume, RarPart part)
    {
        var identity = SHA256.HashData(Encoding.UTF8.GetBytes(part.Identity.ToString()));
        var number = volume.Format == ArchiveFormat.Rar5 ? volume.Number ?? 0 : 0;
        return string.Create(CultureInfo.InvariantCulture, $"{volume.Format} {number} {Convert.ToHexStringLower(identity.AsSpan(0, 16))}");
    }

    /// <summary>The beginning of a volume, and nothing behind it.</summary>
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
