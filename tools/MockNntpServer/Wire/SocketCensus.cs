using System.Net.Sockets;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>
/// Counts a provider's sockets until both sides have closed them, and judges the cap. Thread-safe.
/// </summary>
/// <remarks>
/// A client that closes a socket and opens another is seen in that order by the kernel but not by two readers of this
/// process. So before a count becomes a reproach, every socket is asked whether its client has closed it already.
/// </remarks>
internal sealed class SocketCensus(MockStats stats)
{
    private readonly Lock _lock = new();
    private readonly HashSet<Entry> _open = [];

    /// <summary>Counts a socket that was accepted.</summary>
    public Entry Enter(Socket socket)
    {
        var entry = new Entry(socket);
        lock (_lock)
        {
            if (_open.Count >= stats.ConnectionsPeak)
                Sweep();
            _open.Add(entry);
            stats.ConnectionOpened();
        }

        return entry;
    }

    /// <summary>Takes one of the places under the cap; refused sockets do not hold one.</summary>
    /// <returns>False when all are taken.</returns>
    public bool TryAdmit(Entry entry, int cap)
    {
        lock (_lock)
        {
            if (entry.Admitted)
                return true;
            if (cap > 0 && Admitted() >= cap)
            {
                Sweep();
                if (Admitted() >= cap)
                {
                    stats.ConnectionRefused();
                    return false;
                }
            }

            return entry.Admitted = true;
        }
    }

    /// <summary>Ends the count of a socket, once.</summary>
    public void Leave(Entry entry)
    {
        lock (_lock)
        {
            if (_open.Remove(entry))
                stats.ConnectionClosed();
        }
    }

    private int Admitted() => _open.Count(entry => entry.Admitted);

    private void Sweep()
    {
        foreach (var entry in _open.Where(entry => TcpState.IsClosedByPeer(entry.Socket)).ToList())
        {
            _open.Remove(entry);
            stats.ConnectionClosed();
        }
    }

    /// <summary>One counted socket.</summary>
    public sealed class Entry(Socket socket)
    {
        public Socket Socket { get; } = socket;

        public bool Admitted { get; set; }
    }
}
