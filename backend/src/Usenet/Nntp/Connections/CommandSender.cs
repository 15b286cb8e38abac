using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Threading.Channels;

namespace Sluice.Usenet.Nntp;

/// <summary>The outgoing side of one connection: commands that are ready together leave in one flush.</summary>
/// <remarks>Anyone may submit; one loop sends.</remarks>
internal sealed class CommandSender(NntpTransport transport, PendingReplies sent, NntpMeter meter, TimeProvider time)
{
    private readonly Channel<PendingReply> _unsent = Channel.CreateUnbounded<PendingReply>(new() { SingleReader = true });
    private volatile bool _saysQuit;

    /// <summary>Queues commands.</summary>
    /// <returns>False when nothing more will be sent.</returns>
    public bool TrySubmit(PendingReply reply) => _unsent.Writer.TryWrite(reply);

    /// <summary>Takes back what has not been sent, once the loop has ended.</summary>
    public bool TryTakeUnsent([MaybeNullWhen(false)] out PendingReply reply) => _unsent.Reader.TryRead(out reply);

    /// <summary>Takes no more commands.</summary>
    public void Stop() => _unsent.Writer.TryComplete();

    /// <summary>Takes no more commands, and says QUIT after the last.</summary>
    public void StopWithQuit()
    {
        _saysQuit = true;
        Stop();
    }

    /// <summary>Sends until stopped.</summary>
    /// <param name="unwanted">Told of commands that nobody wanted any more before they were sent.</param>
    /// <param name="begun">Told when a command is outstanding, and whether none was before.</param>
    /// <exception cref="IOException">The connection was lost; so say ObjectDisposedException and InvalidOperationException.</exception>
    public async Task RunAsync(Action<PendingReply> unwanted, Action<bool> begun)
    {
        var buffer = new ArrayBufferWriter<byte>(1024);
        var commands = _unsent.Reader;
        while (await commands.WaitToReadAsync())
        {
            while (commands.TryRead(out var reply))
            {
                if (!TryRegister(reply, buffer, begun))
                    unwanted(reply);
            }

            if (buffer.WrittenCount == 0)
                continue;
            meter.Flushed();
            await transport.Stream.WriteAsync(buffer.WrittenMemory);
            buffer.ResetWrittenCount();
        }

        if (!_saysQuit)
            return;
        NntpCommandWriter.WriteQuit(buffer);
        meter.CommandSent();
        await transport.Stream.WriteAsync(buffer.WrittenMemory);
        transport.FinishSending();
    }

    // Every command is pending before it is flushed: its answer can overtake the end of the flush.
    private bool TryRegister(PendingReply reply, ArrayBufferWriter<byte> buffer, Action<bool> begun)
    {
        reply.SentAt = time.GetTimestamp();
        if (!sent.TryAdd(reply, out var isOnly))
            return false;

        reply.SentBehindOthers = !isOnly;
        if (isOnly)
            reply.SentOnIdleAt = reply.SentAt;
        begun(isOnly);

        reply.WriteCommands(buffer);
        meter.Sent(reply);
        return true;
    }
}
