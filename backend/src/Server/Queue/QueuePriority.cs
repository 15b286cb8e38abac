namespace Sluice.Server.Queue;

/// <summary>Which items are worked on first; the numbers are those of SABnzbd.</summary>
internal enum QueuePriority
{
    /// <summary>After all others.</summary>
    Low = -1,

    /// <summary>The default.</summary>
    Normal = 0,

    /// <summary>Before normal ones.</summary>
    High = 1,

    /// <summary>First of all.</summary>
    Force = 2,
}
