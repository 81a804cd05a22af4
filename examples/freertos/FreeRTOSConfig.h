// SPDX-License-Identifier: BSD-2-Clause
// FreeRTOS as examples/freertos/freertos_echo.c wants it on a Cortex-M3 board: its exceptions are boards/cortex_m's,
// and its tick comes from board_alarm, since the board's clock owns SysTick.
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configCPU_CLOCK_HZ 25000000UL
#define configTICK_RATE_HZ 1000
#define configMAX_PRIORITIES 8
#define configMINIMAL_STACK_SIZE 128
#define configTOTAL_HEAP_SIZE 65536
#define configMAX_TASK_NAME_LEN 8
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configSTACK_DEPTH_TYPE uint32_t
#define configUSE_MUTEXES 1
#define configUSE_TASK_NOTIFICATIONS 1
#define configTASK_NOTIFICATION_ARRAY_ENTRIES 1
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configSUPPORT_STATIC_ALLOCATION 0
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TIMERS 0
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configPRIO_BITS 3
#define configKERNEL_INTERRUPT_PRIORITY 0xe0       // the lowest
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 0x40  // interrupts at this number or above may make FromISR calls
#define configCHECK_HANDLER_INSTALLATION 0         // the exceptions are reached by other names
#define INCLUDE_vTaskPrioritySet 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
// What the kernel finds wrong is told on the console, and it stops.
__attribute__((noreturn)) void freertos_stop(const char *file, int line);
#define configASSERT(truth) ((truth) ? (void)0 : freertos_stop(__FILE__, __LINE__))
#define vPortSVCHandler svc_handler
#define xPortPendSVHandler pendsv_handler

#endif
