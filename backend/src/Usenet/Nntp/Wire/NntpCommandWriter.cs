using System.Buffers;
using System.Globalization;
using System.Text;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>Writes commands (RFC 3977 section 9.2, RFC 4643 section 2.3) to a buffer. Stateless; never waits or sends.</summary>
internal static class NntpCommandWriter
{
    // body-command = "BODY" SP message-id
    public static void WriteBody(IBufferWriter<byte> output, MessageId id)
    {
        output.Write("BODY <"u8);
        output.Write(id.Bytes);
        output.Write(">\r\n"u8);
    }

    // body-command =/ "BODY" SP article-number
    public static void WriteBody(IBufferWriter<byte> output, long number)
    {
        output.Write("BODY "u8);
        Encoding.ASCII.GetBytes(number.ToString(CultureInfo.InvariantCulture), output);
        output.Write("\r\n"u8);
    }

    // group-command = "GROUP" SP newsgroup-name
    public static void WriteGroup(IBufferWriter<byte> output, string group) => WriteArgument(output, "GROUP "u8, group);

    // stat-command = "STAT" SP message-id
    public static void WriteStat(IBufferWriter<byte> output, MessageId id)
    {
        output.Write("STAT <"u8);
        output.Write(id.Bytes);
        output.Write(">\r\n"u8);
    }

    // authinfo-user-command = "AUTHINFO" WS "USER" WS username
    public static void WriteUser(IBufferWriter<byte> output, string user) => WriteArgument(output, "AUTHINFO USER "u8, user);

    // authinfo-pass-command = "AUTHINFO" WS "PASS" WS password
    public static void WritePassword(IBufferWriter<byte> output, string password) => WriteArgument(output, "AUTHINFO PASS "u8, password);

    // date-command = "DATE"
    public static void WriteDate(IBufferWriter<byte> output) => output.Write("DATE\r\n"u8);

    // quit-command = "QUIT"
    public static void WriteQuit(IBufferWriter<byte> output) => output.Write("QUIT\r\n"u8);

    /// <exception cref="ArgumentException">The text contains a line end, which could smuggle in another command.</exception>
    private static void WriteArgument(IBufferWriter<byte> output, ReadOnlySpan<byte> command, string argument)
    {
        if (argument.AsSpan().ContainsAny('\r', '\n', '\0'))
            throw new ArgumentException("An argument holds a control character.", nameof(argument));

        output.Write(command);
        Encoding.UTF8.GetBytes(argument, output);
        output.Write("\r\n"u8);
    }
}
