using System.Runtime.CompilerServices;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// The work of one shared fetch, and then of another one: asks for the article once, and only where the answer is not a proved
/// segment goes the long way of retries and copies. All that a usual fetch needs is in here, so that it costs no object of its own.
/// </summary>
/// <remarks>Used by one fetch at a time; handed back by <see cref="SharedFetches"/> when that has ended.</remarks>
internal sealed class FetchRun
{
    private readonly SharedFetches _owner;
    private readonly CopyFetcher _copies;
    private readonly RetryingFetcher _retrying;
    private readonly SegmentSink _sink;
    private readonly TimeProvider _time;
    private readonly Action _answered;
    private ValueTaskAwaiter<ArticleReply> _answer;
    private CancellationToken _token;

    // Where it came to that; whoever closes the owner waits until it has handed the run back.
    private Task _longWay = Task.CompletedTask;

    public FetchRun(SharedFetches owner, CopyFetcher copies, RetryingFetcher retrying, SegmentSink sink, TimeProvider time)
    {
        (_owner, _copies, _retrying, _sink, _time) = (owner, copies, retrying, sink, time);
        _answered = Answered;
        Fetch = new SharedFetch(time);
    }

    /// <summary>What is worked for.</summary>
    public SharedFetch Fetch { get; private set; }

    /// <summary>Asks. The end is told to the owner, perhaps before this returns.</summary>
    public void Start()
    {
        _sink.Open(Fetch);
        _token = Fetch.Token;
        try
        {
            Await(_copies.AskAsync(Fetch, _sink, Fetch.Key.Ids.Primary, default, null, _token));
        }
        catch (Exception failure)
        {
            _longWay = GoOnAsync(new FirstAnswer(default, default, failure, _token));
        }
    }

    /// <summary>Makes it fit for another fetch; the present one has ended.</summary>
    public void Reset()
    {
        if (!Fetch.TryReset())
            Fetch = new SharedFetch(_time);
        (_answer, _token) = (default, default);
    }

    private void Await(ValueTask<ArticleReply> answer)
    {
        _answer = answer.GetAwaiter();
        if (_answer.IsCompleted)
            Answered();
        else
            _answer.UnsafeOnCompleted(_answered);
    }

    // Never throws.
    private void Answered()
    {
        FirstAnswer first;
        try
        {
            var reply = _answer.GetResult();
            var proof = reply.IsFound ? _sink.Judge() : default;
            if (reply.IsFound && proof == SegmentProof.Proved)
            {
                Succeed(_sink.Take());
                return;
            }

            first = new FirstAnswer(reply, proof, null, _token);
        }
        catch (Exception failure)
        {
            first = new FirstAnswer(default, default, failure, _token);
        }

        _longWay = GoOnAsync(first);
    }

    private async Task GoOnAsync(FirstAnswer first)
    {
        SegmentBuffer proved;
        try
        {
            proved = await _retrying.FetchAsync(Fetch, _sink, first);
        }
        catch (Exception failure)
        {
            _sink.Close();
            _owner.Fail(this, failure);
            return;
        }

        Succeed(proved);
    }

    private void Succeed(SegmentBuffer proved)
    {
        _sink.Close();
        _owner.Succeed(this, proved);
    }
}
