using System.Net.Sockets;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>What a connection tells the pool that it belongs to. Calls come from its loops and hold no lock.</summary>
internal interface IConnectionOwner
{
    /// <summary>The connections that owe nothing and could take the next command.</summary>
    NntpConnection[] Idle();

    /// <summary>Whether whoever comes next need not wait for this connection: another is idle, or can be opened while this one reads on.</summary>
    bool HasAnother(NntpConnection connection);

    /// <summary>Whether no more connections are open than are kept though nobody plays.</summary>
    bool HasOnlyTheFloor { get; }

    /// <summary>A connection is late from now on, or not any more: what waits may go elsewhere, or come here.</summary>
    void Changed();

    /// <summary>One reply has ended, whatever came of it, and the connection is in step.</summary>
    void ReplyEnded(NntpConnection connection, PendingReply reply);

    /// <summary>The provider does not have an article, which it has said in step.</summary>
    void Missed(MessageId id);

    /// <summary>The connection has been idle for long.</summary>
    /// <param name="connection">Which one.</param>
    /// <param name="isStale">Whether it is of no use any more, so that none is kept for its sake.</param>
    /// <returns>True when no lease is out and none will be given: the connection may say goodbye.</returns>
    bool TryRetire(NntpConnection connection, bool isStale);

    /// <summary>No lease may be given any more; the socket may still count.</summary>
    void Closing(NntpConnection connection, NntpException reason);

    /// <summary>The connection has closed its sending side and reads no more. Ends when the server does not count the socket any more, as far as can be known.</summary>
    Task LeaveAsync(Socket socket);

    /// <summary>The socket is closed on both sides.</summary>
    void Closed(NntpConnection connection);
}
