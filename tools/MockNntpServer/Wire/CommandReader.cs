using System.Text;
using System.Threading.Channels;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Reads the command lines of one connection and records their arrival time, independent of slow responses.</summary>
/// <param name="connection">Number of the connection, as for <see cref="ProviderState.Regime"/>.</param>
internal sealed class CommandReader(Stream stream, ProviderState provider, int connection, ChannelWriter<Command> commands)
{
    /// <summary>Longest command line: twice the longest that RFC 4643 allows.</summary>
    private const int MaxLine = 1024;

    private readonly byte[] _buffer = new byte[16 * 1024];
    private int _filled;
    private int _number;

    // Guards the fields below.
    private readonly Lock _gate = new();
    private int _outstanding;
    private bool _isBusy;

    /// <summary>Commands received whose responses have not been sent completely.</summary>
    public int Outstanding
    {
        get
        {
            lock (_gate)
                return _outstanding;
        }
    }

    /// <summary>Called when the last bytes of a response are about to be sent.</summary>
    public void Answered() => End(1);

    /// <summary>Called after the connection is closed: pending commands get no response, so they no longer count.</summary>
    public void Close() => End(Outstanding);

    /// <summary>Reads until the client closes its side.</summary>
    /// <exception cref="IOException">The connection broke.</exception>
    /// <exception cref="InvalidDataException">A line is too long.</exception>
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
                var command = Receive(_buffer.AsSpan(taken, end), arrived);
                taken += end + 1;
                // Decided on arrival, because the next command may come before a response is due and must not wait behind this one.
                if (command.Waiting > 1 && provider.Regime(FaultKind.PolicyNoPipelining, connection) is not null)
                {
                    provider.Stats.FaultHappened(FaultKind.PolicyNoPipelining);
                    Answered();
                    continue;
                }

                await commands.WriteAsync(command, cancellationToken);
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
        var waiting = Begin(isSetup: verb is "CAPABILITIES" or "MODE" or "AUTHINFO USER" or "AUTHINFO PASS");
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

    /// <summary>Counts a command. The first command after setup marks the connection as busy.</summary>
    private int Begin(bool isSetup)
    {
        lock (_gate)
        {
            if (!isSetup && !_isBusy)
            {
                _isBusy = true;
                provider.Stats.ConnectionBusy();
            }

            return ++_outstanding;
        }
    }

    private void End(int commands)
    {
        lock (_gate)
        {
            _outstanding -= commands;
            if (_outstanding == 0 && _isBusy)
            {
                _isBusy = false;
                provider.Stats.ConnectionIdle();
            }
        }

        provider.Stats.CommandsDone(commands);
    }
}
