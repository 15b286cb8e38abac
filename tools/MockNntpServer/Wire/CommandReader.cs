using System.Text;
using System.Threading.Channels;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Reads command lines of one connection and stamps when they arrived, however long the answers take.</summary>
internal sealed class CommandReader(Stream stream, ProviderState provider, ChannelWriter<Command> commands)
{
    /// <summary>Longest command line: twice what RFC 4643 allows for the longest of them.</summary>
    private const int MaxLine = 1024;

    private readonly byte[] _buffer = new byte[16 * 1024];
    private int _filled;
    private int _number;
    private int _outstanding;

    /// <summary>Commands received whose answers have not been sent to their end.</summary>
    public int Outstanding => Volatile.Read(ref _outstanding);

    /// <summary>Called when the last bytes of an answer are about to go.</summary>
    public void Answered()
    {
        Interlocked.Decrement(ref _outstanding);
        provider.Stats.CommandsDone(1);
    }

    /// <summary>Reads until the client closes its side.</summary>
    /// <exception cref="IOException">The connection broke.</exception>
    /// <exception cref="InvalidDataException">A line is longer than any command.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            var read = await stream.ReadAsync(_buffer.AsMemory(_filled), cancellationToken);
            if (read == 0)
                return;
            var arrived = provider.Clock.Now;
            _filled += read;
            var taken = 0;
            while (_buffer.AsSpan(taken, _filled - taken).IndexOf((byte)'\n') is >= 0 and var end)
            {
                await commands.WriteAsync(Receive(_buffer.AsSpan(taken, end), arrived), cancellationToken);
                taken += end + 1;
            }

            _filled -= taken;
            _buffer.AsSpan(taken, _filled).CopyTo(_buffer);
            if (_filled > MaxLine)
                throw new InvalidDataException("The command line is too long.");
        }
    }

    private Command Receive(ReadOnlySpan<byte> line, long arrived)
    {
        var (verb, argument) = Command.Split(Encoding.UTF8.GetString(line.TrimEnd((byte)'\r')));
        var waiting = Interlocked.Increment(ref _outstanding);
        provider.Stats.CommandReceived(Session.IsKnown(verb) ? verb : "OTHER", waiting);
        var attempt = 1;
        if (Command.MessageIdOf(argument) is { } id)
            attempt = verb is "BODY" or "ARTICLE" ? provider.Stats.BodyAsked(id) : provider.Stats.BodyCount(id) + 1;
        else if (verb is "DATE" or "QUIT")
            attempt = _number + 1;
        if (verb == "BODY" && MockMessageId.TryParse(Command.MessageIdOf(argument), out var made))
            provider.Stats.BodyOfFileAsked(made.File);
        return new Command(verb, argument, arrived, ++_number, attempt, waiting);
    }
}
